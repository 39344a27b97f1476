import type { RequestListener } from 'node:http';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { RuntimeNodeInstrumentation } from '@opentelemetry/instrumentation-runtime-node';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { createMetricProducer, type ProducedMetrics } from './metric-producer.ts';
import {
  clearDiagnostics,
  createResource,
  type ProcessDescription,
  reportDiagnostics,
} from './resource.ts';

/*
 * The OpenTelemetry SDK for metrics. This module is imported only when metrics are exported,
 * because the SDK takes several megabytes of memory.
 */

/** Options for openMetricsSdk(). */
export interface MetricsSdkOptions
  extends ProcessDescription,
    Pick<ProducedMetrics, 'metrics' | 'gauges'> {
  /** Interval between pushes over OTLP, in milliseconds. Null: nothing is pushed. */
  pushMs: number | null;
}

/** Export of the metrics of a process. */
export interface MetricsSdk {
  scrape: RequestListener;
  /** Pushes the last values, and stops. */
  close(): Promise<void>;
}

/**
 * Starts the SDK. The exporter over OTLP reads its own `OTEL_*` variables, for example for headers.
 */
export function openMetricsSdk({
  log,
  pushMs,
  metrics,
  gauges,
  ...description
}: MetricsSdkOptions): MetricsSdk {
  reportDiagnostics(log);
  const produced = { metrics, gauges, version: description.version };
  const prometheus = new PrometheusExporter({
    preventServerStart: true,
    withoutScopeInfo: true,
    metricProducers: [createMetricProducer(produced)],
  });
  const provider = new MeterProvider({
    resource: createResource(description),
    readers: [prometheus, ...(pushMs === null ? [] : [createPush(pushMs, produced)])],
  });
  const runtime = new RuntimeNodeInstrumentation();
  runtime.setMeterProvider(provider);
  return {
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

/** Creates the reader that pushes over OTLP. */
function createPush(pushMs: number, produced: ProducedMetrics): PeriodicExportingMetricReader {
  const exporter = new OTLPMetricExporter();
  return new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: pushMs,
    metricProducers: [
      createMetricProducer({
        ...produced,
        temporalityOf: (instrument) => exporter.selectAggregationTemporality(instrument),
      }),
    ],
  });
}

/** Maximum duration of the last push, in milliseconds. */
const closeMs = 2_000;
