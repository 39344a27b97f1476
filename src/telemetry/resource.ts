import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import type { Log } from '../base/log.ts';

/** A process that exports telemetry. */
export interface ProcessDescription {
  role: string;
  version: string;
  log: Log;
}

/**
 * Returns the resource of a process. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` override its
 * attributes.
 */
export function createResource({ role, version }: Omit<ProcessDescription, 'log'>): Resource {
  return defaultResource()
    .merge(
      resourceFromAttributes({ 'service.name': 'gleaner', 'service.version': version, 'gleaner.role': role }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
}
