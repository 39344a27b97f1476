import { expect, test } from 'vitest';
import { addReport, createMetricsBuffer } from './buffer.ts';

test('a buffer sums counters by their labels and keeps every duration', () => {
  const buffer = createMetricsBuffer();
  const ok = { market: 'mktx', kind: 'page', code: 'ok' };
  buffer.add('gleaner_units_total', ok);
  buffer.add('gleaner_units_total', { ...ok, code: 'network' });
  buffer.add('gleaner_units_total', ok, 4);
  buffer.record('gleaner_unit_duration_seconds', 250);
  buffer.record('gleaner_unit_duration_seconds', 1_000);
  const report = buffer.take();
  expect(report).toEqual({
    counts: [
      { name: 'gleaner_units_total', labels: ok, value: 5 },
      { name: 'gleaner_units_total', labels: { ...ok, code: 'network' }, value: 1 },
    ],
    durations: { gleaner_unit_duration_seconds: [250, 1_000] },
  });
  expect(buffer.take()).toEqual({ counts: [], durations: {} });
});

test('addReport() adds the measurements of a report once', () => {
  const worker = createMetricsBuffer();
  worker.add('gleaner_credits_total', { type: 'refund' }, 15);
  worker.record('gleaner_job_duration_seconds', 70_000);
  const report = worker.take();
  const parent = createMetricsBuffer();
  parent.add('gleaner_credits_total', { type: 'refund' }, 5);
  addReport(parent, structuredClone(report));
  expect(parent.take()).toEqual({
    counts: [{ name: 'gleaner_credits_total', labels: { type: 'refund' }, value: 20 }],
    durations: { gleaner_job_duration_seconds: [70_000] },
  });
});
