import {
  type CounterName,
  counters,
  type DistributionName,
  distributions,
  durations,
  type LabelledMetric,
} from './catalog.ts';
import type {
  CounterSeries,
  DistributionSeries,
  Labels,
  Metrics,
  MetricsReport,
} from './metrics.ts';

const noLabels: Labels = {};

/**
 * Recorder that keeps sums in memory: its size depends on the number of series, not of
 * measurements.
 */
export interface MetricsRecorder extends Metrics {
  /** Creates a series at zero, so that its first measurement is an increase. */
  start(name: DistributionName, labels: Labels): void;
  /** Returns the sums since the start or the last take(). The caller must not change them. */
  read(): MetricsReport;
  /** Returns and clears the sums. */
  take(): MetricsReport;
}

/** Creates a recorder without series. */
export function createMetricsRecorder(): MetricsRecorder {
  let sums = new Map<string, CounterSeries>();
  let spreads = new Map<string, DistributionSeries>();
  const sumOf = (name: CounterName, labels: Labels) => {
    const key = keyOf(name, counters[name].labels, labels);
    let sum = sums.get(key);
    if (sum === undefined) {
      sum = { name, labels, value: 0 };
      sums.set(key, sum);
    }
    return sum;
  };
  const spreadOf = (name: DistributionName, labels: Labels) => {
    const { buckets, labels: names } = distributions[name];
    const key = keyOf(name, names, labels);
    let spread = spreads.get(key);
    if (spread === undefined) {
      spread = {
        name,
        labels,
        counts: Array(buckets.length + 1).fill(0),
        sumMs: 0,
      };
      spreads.set(key, spread);
    }
    return spread;
  };
  const read = () => ({ counters: [...sums.values()], distributions: [...spreads.values()] });
  return {
    add(name, labels, value = 1) {
      sumOf(name, labels).value += value;
    },
    record(name, milliseconds, labels) {
      const spread = spreadOf(name, labels ?? noLabels);
      spread.counts[bucketOf(distributions[name].buckets, milliseconds / 1000)]! += 1;
      spread.sumMs += milliseconds;
    },
    addReport(report) {
      for (const { name, labels, value } of report.counters) sumOf(name, labels).value += value;
      for (const { name, labels, counts, sumMs } of report.distributions) {
        const spread = spreadOf(name, labels);
        for (const [index, count] of counts.entries()) spread.counts[index]! += count;
        spread.sumMs += sumMs;
      }
    },
    start: (name, labels) => void spreadOf(name, labels),
    read,
    take() {
      const report = read();
      sums = new Map();
      spreads = new Map();
      return report;
    },
  };
}

/**
 * Creates the series of distributions without labels, and of counters whose values are declared, at
 * zero.
 */
export function startSeries({ add, start }: Pick<MetricsRecorder, 'add' | 'start'>): void {
  for (const name of Object.keys(durations)) start(name as DistributionName, noLabels);
  for (const [name, { labels, values }] of Object.entries<LabelledMetric>(counters))
    for (const series of values === undefined ? [] : combinations(values)) {
      const named = Object.fromEntries(labels.map((label, index) => [label, series[index]!]));
      add(name as CounterName, named as Parameters<typeof add>[1], 0);
    }
}

/** Returns every combination of one value of each list. */
function combinations(lists: readonly (readonly string[])[]): string[][] {
  const empty: string[][] = [[]];
  return lists.reduce(
    (found, list) => found.flatMap((start) => list.map((value) => [...start, value])),
    empty,
  );
}

/** Returns the key of a series. */
function keyOf(name: string, names: readonly string[], labels: Labels): string {
  let key = name;
  for (const label of names) key += `\n${labels[label] ?? ''}`;
  return key;
}

/** Returns the index of the bucket of a value. Upper bounds belong to their bucket. */
function bucketOf(buckets: readonly number[], value: number): number {
  let index = 0;
  while (index < buckets.length && value > buckets[index]!) index += 1;
  return index;
}
