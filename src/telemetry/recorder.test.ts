import { expect, test } from 'vitest';
import { durations } from './catalog.ts';
import { createMetricsRecorder, startSeries } from './recorder.ts';

test('a recorder sums counters by their labels, in any order, and durations by their bucket', () => {
  const recorder = createMetricsRecorder();
  const ok = { market: 'mktx', kind: 'page', code: 'ok' };
  recorder.add('gleaner_units_total', ok);
  recorder.add('gleaner_units_total', { ...ok, code: 'network' });
  recorder.add('gleaner_units_total', { code: 'ok', kind: 'page', market: 'mktx' }, 4);
  for (const milliseconds of [250, 1_000, 3_600_000])
    recorder.record('gleaner_unit_duration_seconds', milliseconds);
  const report = recorder.take();
  expect(report).toEqual({
    counters: [
      { name: 'gleaner_units_total', labels: ok, value: 5 },
      { name: 'gleaner_units_total', labels: { ...ok, code: 'network' }, value: 1 },
    ],
    distributions: [
      {
        name: 'gleaner_unit_duration_seconds',
        labels: {},
        // 250 ms and 1 s are upper bounds of buckets, and an hour is above the last one.
        counts: [0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1],
        sumMs: 3_601_250,
      },
    ],
  });
  expect(recorder.take()).toEqual({ counters: [], distributions: [] });
});

test('addReport() adds the measurements of a report once', () => {
  const worker = createMetricsRecorder();
  worker.add('gleaner_credits_total', { type: 'refund' }, 15);
  worker.record('gleaner_job_duration_seconds', 70_000);
  const report = worker.take();
  const parent = createMetricsRecorder();
  parent.add('gleaner_credits_total', { type: 'refund' }, 5);
  parent.record('gleaner_job_duration_seconds', 500);
  parent.addReport(structuredClone(report));
  const counts = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
  expect(parent.take()).toEqual({
    counters: [{ name: 'gleaner_credits_total', labels: { type: 'refund' }, value: 20 }],
    distributions: [{ name: 'gleaner_job_duration_seconds', labels: {}, counts, sumMs: 70_500 }],
  });
});

test('startSeries() creates every combination of declared values, and distributions without labels', () => {
  const recorder = createMetricsRecorder();
  startSeries(recorder);
  recorder.add('gleaner_requests_total', { protocol: 'rpc', result: 'ok' });
  const { counters, distributions } = recorder.read();
  expect(distributions.map(({ name }) => name)).toEqual(Object.keys(durations));
  const requests = counters.filter(({ name }) => name === 'gleaner_requests_total');
  expect(requests).toHaveLength(6);
  expect(requests.reduce((sum, { value }) => sum + value, 0)).toBe(1);
  expect(counters.filter(({ name }) => name === 'gleaner_batch_redeliveries_total')).toHaveLength(
    1,
  );
});
