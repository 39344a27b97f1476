import type { RequestListener } from 'node:http';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { RuntimeNodeInstrumentation } from '@opentelemetry/instrumentation-runtime-node';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import type { Log } from '../base/log.ts';
import { createMetrics, type GaugeReaders, type Metrics, observeGauges } from './metrics.ts';

/*
 * The OpenTelemetry SDK. This module is imported only by processes that export metrics, because the SDK takes several
 * megabytes of memory.
 */

/** Options for openTelemetry(). */
export interface TelemetryOptions {
  role: string;
  version: string;
  log: Log;
  /** Interval between pushes over OTLP, in milliseconds; null: nothing is pushed. */
  pushMs: number | null;
}

/** Metrics of a process, and their export. */
export interface Telemetry {
  metrics: Metrics;
  /** Adds gauges to the metrics. */
  observe(readers: GaugeReaders): void;
  /** Responds with all metrics in the text format of Prometheus. */
  scrape: RequestListener;
  /** Pushes the last values, and stops. */
  close(): Promise<void>;
}

/** Starts the SDK. The exporter over OTLP reads its own `OTEL_*` variables, for example for headers. */
export function openTelemetry({ role, version, log, pushMs }: TelemetryOptions): Telemetry {
  // The SDK reports failed pushes and gauges only here.
  const report = (message: string, ...details: unknown[]) => log.warn({ details }, `telemetry: ${message}`);
  const quiet = () => {};
  diag.setLogger(
    { error: report, warn: report, info: quiet, debug: quiet, verbose: quiet },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const prometheus = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true });
  const resource = defaultResource()
    .merge(
      resourceFromAttributes({ 'service.name': 'gleaner', 'service.version': version, 'gleaner.role': role }),
    )
    .merge(detectResources({ detectors: [envDetector] }));
  const push =
    pushMs === null
      ? []
      : [
          new PeriodicExportingMetricReader({
            exporter: new OTLPMetricExporter(),
            exportIntervalMillis: pushMs,
          }),
        ];
  const provider = new MeterProvider({ resource, readers: [prometheus, ...push] });
  const meter = provider.getMeter('gleaner', version);
  const runtime = new RuntimeNodeInstrumentation();
  runtime.setMeterProvider(provider);
  return {
    metrics: createMetrics(meter),
    observe: (readers) => observeGauges(meter, readers),
    scrape: (request, response) => prometheus.getMetricsRequestHandler(request, response),
    async close() {
      runtime.disable();
      await provider.shutdown({ timeoutMillis: closeMs }).catch((error) => report('shutdown failed', error));
      diag.disable();
    },
  };
}

/** Maximum duration of the last push, in milliseconds. */
const closeMs = 2_000;
