import { AggregationTemporality, DataPointType } from '@opentelemetry/sdk-metrics';
import { expect, test } from 'vitest';
import { createMetricProducer, type ProducedMetrics } from './metric-producer.ts';
import { createMetricsRecorder, type MetricsRecorder } from './recorder.ts';

const { CUMULATIVE, DELTA } = AggregationTemporality;

/**
 * Creates a producer, and a function that collects the points of a metric: their labels and values.
 */
function open(metrics: MetricsRecorder, options: Partial<ProducedMetrics> = {}) {
  const producer = createMetricProducer({ metrics, gauges: [], version: '0', ...options });
  return async (name: string) => {
    const { resourceMetrics, errors } = await producer.collect({ timeoutMillis: 10_000 });
    const found = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics);
    const metric = found.find(({ descriptor }) => descriptor.name === name);
    const points = metric?.dataPoints.map(({ attributes, value }) => [attributes, value]) ?? [];
    return { metric, points, errors };
  };
}

const ok = { market: 'mktx', kind: 'page', code: 'ok' };
const failed = { ...ok, code: 'network' };

test('sums are those since the start of the process', async () => {
  const metrics = createMetricsRecorder();
  const collect = open(metrics);
  metrics.add('gleaner_units_total', ok, 3);
  const first = await collect('gleaner_units_total');
  expect(first.points).toEqual([[ok, 3]]);
  expect(first.metric).toMatchObject({
    dataPointType: DataPointType.SUM,
    isMonotonic: true,
    aggregationTemporality: CUMULATIVE,
  });
  metrics.add('gleaner_units_total', ok, 2);
  const second = await collect('gleaner_units_total');
  expect(second.points).toEqual([[ok, 5]]);
  expect(second.metric!.dataPoints[0]!.startTime).toEqual(first.metric!.dataPoints[0]!.startTime);
});

test('distributions are in seconds, with the bounds of the catalog', async () => {
  const metrics = createMetricsRecorder();
  metrics.record('gleaner_approval_wait_seconds', 90_000);
  metrics.record('gleaner_approval_wait_seconds', 30_000);
  const { points } = await open(metrics)('gleaner_approval_wait_seconds');
  const boundaries = [60, 300, 900, 3_600, 14_400, 43_200, 86_400];
  expect(points).toEqual([
    [{}, { count: 2, sum: 120, buckets: { boundaries, counts: [1, 1, 0, 0, 0, 0, 0, 0] } }],
  ]);
});

test('a reader that prefers differences gets those since its last collection', async () => {
  const metrics = createMetricsRecorder();
  const collect = open(metrics, { temporalityOf: () => DELTA });
  const collectSums = open(metrics);
  metrics.add('gleaner_units_total', ok, 3);
  metrics.add('gleaner_units_total', failed, 1);
  expect((await collect('gleaner_units_total')).points).toEqual([
    [ok, 3],
    [failed, 1],
  ]);
  metrics.add('gleaner_units_total', ok, 2);
  metrics.record('gleaner_unit_duration_seconds', 250);
  const { metric, points } = await collect('gleaner_units_total');
  expect(points).toEqual([[ok, 2]]);
  expect(metric!.aggregationTemporality).toBe(DELTA);
  expect((await collect('gleaner_units_total')).points).toEqual([]);
  expect((await collectSums('gleaner_units_total')).points).toEqual([
    [ok, 5],
    [failed, 1],
  ]);
});

test('a gauge whose function rejects has no value, and its error is reported', async () => {
  const error = new Error('the store is unavailable');
  const gauges = [
    { gleaner_backup_overdue_seconds: async () => [{ labels: {}, value: 5 }] },
    { gleaner_jobs: async () => Promise.reject(error) },
  ];
  const collect = open(createMetricsRecorder(), { gauges });
  const overdue = await collect('gleaner_backup_overdue_seconds');
  expect(overdue.points).toEqual([[{}, 5]]);
  expect(overdue.metric!.descriptor.unit).toBe('s');
  expect(await collect('gleaner_jobs')).toEqual({ metric: undefined, points: [], errors: [error] });
});
