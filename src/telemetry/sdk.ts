import type { RequestListener } from 'node:http';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { RuntimeNodeInstrumentation } from '@opentelemetry/instrumentation-runtime-node';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { createMetrics, type GaugeReaders, type Metrics, observeGauges } from './metrics.ts';
import { createRequestMetrics, type RequestMetrics } from './requests.ts';
import { clearDiagnostics, createResource, type ProcessDescription, reportDiagnostics } from './resource.ts';

/*
 * The OpenTelemetry SDK for metrics. This module is imported only by processes that export metrics, because
 * the SDK takes several megabytes of memory.
 */

/** Options for openTelemetry(). */
export interface TelemetryOptions extends ProcessDescription {
  /** Interval between pushes over OTLP, in milliseconds. Null: nothing is pushed. */
  pushMs: number | null;
}

/** Metrics of a process, and their export. */
export interface Telemetry {
  metrics: Metrics;
  /** Measurements of served requests. */
  requests: RequestMetrics;
  observe(readers: GaugeReaders): void;
  /** Responds with all metrics in the text format of Prometheus. */
  scrape: RequestListener;
  /** Pushes the last values, and stops. */
  close(): Promise<void>;
}

/** Starts the SDK. The exporter over OTLP reads its own `OTEL_*` variables, for example for headers. */
export function openTelemetry({ log, pushMs, ...description }: TelemetryOptions): Telemetry {
  reportDiagnostics(log);
  const prometheus = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true });
  const push =
    pushMs === null
      ? []
      : [
          new PeriodicExportingMetricReader({
            exporter: new OTLPMetricExporter(),
            exportIntervalMillis: pushMs,
          }),
        ];
  const provider = new MeterProvider({
    resource: createResource(description),
    readers: [prometheus, ...push],
  });
  const meter = provider.getMeter('gleaner', description.version);
  const runtime = new RuntimeNodeInstrumentation();
  runtime.setMeterProvider(provider);
  const metrics = createMetrics(meter);
  return {
    metrics,
    requests: createRequestMetrics(meter, metrics),
    observe: (readers) => observeGauges(meter, readers),
    scrape: (request, response) => prometheus.getMetricsRequestHandler(request, response),
    async close() {
      runtime.disable();
      await provider
        .shutdown({ timeoutMillis: closeMs })
        .catch((error) => log.warn({ err: error }, 'telemetry: shutdown failed'));
      clearDiagnostics();
    },
  };
}

/** Maximum duration of the last push, in milliseconds. */
const closeMs = 2_000;
