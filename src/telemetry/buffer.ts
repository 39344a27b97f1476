import type { CounterLabels, CounterName, DurationName } from './catalog.ts';
import type { Metrics } from './metrics.ts';

/** Sum of a counter since the last report. */
interface CounterSum {
  name: CounterName;
  labels: CounterLabels<CounterName>;
  value: number;
}

/** Measurements of a worker process since its last report. */
export interface MetricsReport {
  counts: CounterSum[];
  /** Durations in milliseconds. */
  durations: Partial<Record<DurationName, number[]>>;
}

/** Recorder that keeps measurements for the parent process. */
export interface MetricsBuffer extends Metrics {
  /** Returns and clears the measurements. */
  take(): MetricsReport;
}

/** Creates an empty buffer. */
export function createMetricsBuffer(): MetricsBuffer {
  let sums = new Map<string, CounterSum>();
  let recorded: MetricsReport['durations'] = {};
  return {
    add(name, labels, value = 1) {
      const key = [name, ...Object.values(labels)].join('\n');
      const sum = sums.get(key);
      if (sum) sum.value += value;
      else sums.set(key, { name, labels: labels as CounterSum['labels'], value });
    },
    record(name, milliseconds) {
      recorded[name] ??= [];
      recorded[name].push(milliseconds);
    },
    take() {
      const report = { counts: [...sums.values()], durations: recorded };
      sums = new Map();
      recorded = {};
      return report;
    },
  };
}

/** Adds the measurements of a worker process to its parent's. */
export function addReport(metrics: Metrics, { counts, durations }: MetricsReport): void {
  for (const { name, labels, value } of counts) metrics.add(name, labels, value);
  for (const [name, values] of Object.entries(durations))
    for (const value of values) metrics.record(name as DurationName, value);
}
