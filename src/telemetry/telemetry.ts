import type { RequestListener } from 'node:http';
import { onDemand } from '../base/on-demand.ts';
import {
  createRequestMetrics,
  type GaugeReaders,
  type Metrics,
  type RequestMetrics,
} from './metrics.ts';
import { createMetricsRecorder, startSeries } from './recorder.ts';
import type { MetricsSdkOptions } from './sdk.ts';

/** Metrics of a process, and their export. */
export interface Telemetry {
  metrics: Metrics;
  /** Measurements of served requests. */
  requests: RequestMetrics;
  observe(readers: GaugeReaders): void;
  /** Resolves when the metrics are exported for the first time. Never, if nobody reads them. */
  exported: Promise<void>;
  /** Responds with all metrics in the text format of Prometheus. */
  scrape: RequestListener;
  /** Pushes the last values, and stops. */
  close(): Promise<void>;
}

/**
 * Starts to measure. Measurements are sums in memory, which the SDK of OpenTelemetry reads to
 * export them: it takes a tenth of the start and several megabytes, so it is loaded by the first
 * scrape, or here if metrics are pushed.
 */
export async function openTelemetry(
  options: Omit<MetricsSdkOptions, 'metrics' | 'gauges'>,
): Promise<Telemetry> {
  const metrics = createMetricsRecorder();
  startSeries(metrics);
  const gauges: GaugeReaders[] = [];
  const exported = Promise.withResolvers<void>();
  const sdk = onDemand(async () => {
    const { openMetricsSdk } = await import('./sdk.ts');
    const opened = openMetricsSdk({ ...options, metrics, gauges });
    exported.resolve();
    return opened;
  });
  const scrape: RequestListener = async (request, response) => {
    try {
      (await sdk()).scrape(request, response);
    } catch (error) {
      options.log.error({ err: error }, 'metrics not exported');
      response.writeHead(500).end();
    }
  };
  if (options.pushMs !== null) await sdk();
  return {
    metrics,
    requests: createRequestMetrics(metrics),
    observe: (readers) => void gauges.push(readers),
    exported: exported.promise,
    scrape,
    close: sdk.close,
  };
}
