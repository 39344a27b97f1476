import { DiagLogLevel, diag } from '@opentelemetry/api';
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
 * Returns the resource of a process. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` override
 * its attributes.
 */
export function createResource({ role, version }: Omit<ProcessDescription, 'log'>): Resource {
  return defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': 'gleaner',
        'service.version': version,
        'gleaner.role': role,
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
}

/** Number of parts of the SDK that report to the log. */
let users = 0;

/** Logs the problems of the SDK, such as failed exports, which it reports only here. */
export function reportDiagnostics(log: Log): void {
  users += 1;
  const report = (message: string, ...details: unknown[]) =>
    log.warn({ details }, `telemetry: ${message}`);
  const quiet = () => {};
  diag.setLogger(
    {
      error: report,
      warn: report,
      info: quiet,
      debug: quiet,
      verbose: quiet,
    },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

/** Stops reporting diagnostics of the SDK when its last user has called this. */
export function clearDiagnostics(): void {
  users -= 1;
  if (users === 0) diag.disable();
}
