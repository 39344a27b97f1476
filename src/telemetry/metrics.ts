import type { Histogram, Meter } from '@opentelemetry/api';
import {
  type CounterLabels,
  type CounterName,
  counters,
  type DurationMetric,
  type DurationName,
  durations,
  type GaugeLabels,
  type GaugeName,
  gauges,
  type LabelledMetric,
} from './catalog.ts';

/** Recorder of the metrics in the catalog. Its methods never throw or block. */
export interface Metrics {
  add<Name extends CounterName>(name: Name, labels: CounterLabels<Name>, value?: number): void;
  record(name: DurationName, milliseconds: number): void;
}

export interface Sample<Name extends GaugeName> {
  labels: GaugeLabels<Name>;
  value: number;
}

/** Functions that read gauges. A gauge whose function rejects has no value in that collection. */
export type GaugeReaders = {
  [Name in GaugeName]?: () => Promise<readonly Sample<Name>[]>;
};

/** Recorder for processes without telemetry. */
export const noMetrics: Metrics = { add() {}, record() {} };

/** Creates a recorder with the instruments of a meter. */
export function createMetrics(meter: Meter): Metrics {
  const counterOf = new Map(
    Object.entries(counters).map(([name, { about }]) => [
      name,
      meter.createCounter(name, { description: about }),
    ]),
  );
  for (const [name, { labels, values }] of Object.entries<LabelledMetric>(counters))
    for (const series of values === undefined ? [] : combinations(values))
      counterOf.get(name)!.add(0, Object.fromEntries(labels.map((label, index) => [label, series[index]!])));
  const histogramOf = new Map(
    Object.entries(durations).map(([name, metric]) => [name, createDuration(meter, name, metric)]),
  );
  return {
    add: (name, labels, value = 1) => counterOf.get(name)!.add(value, labels),
    record: (name, milliseconds) => histogramOf.get(name)!.record(milliseconds / 1000),
  };
}

/** Creates the instrument of a distribution of seconds. */
export function createDuration(meter: Meter, name: string, { about, buckets }: DurationMetric): Histogram {
  return meter.createHistogram(name, {
    description: about,
    unit: 's',
    advice: { explicitBucketBoundaries: [...buckets] },
  });
}

/** Returns every combination of one value of each list. */
function combinations(lists: readonly (readonly string[])[]): string[][] {
  const empty: string[][] = [[]];
  return lists.reduce(
    (found, list) => found.flatMap((start) => list.map((value) => [...start, value])),
    empty,
  );
}

/** Reads gauges with the given functions whenever the meter's metrics are collected. */
export function observeGauges(meter: Meter, readers: GaugeReaders): void {
  for (const [name, read] of Object.entries(readers)) {
    const { about } = gauges[name as GaugeName];
    const unit = name.endsWith('_seconds') ? { unit: 's' } : {};
    meter.createObservableGauge(name, { description: about, ...unit }).addCallback(async (result) => {
      for (const { value, labels } of await read()) result.observe(value, labels);
    });
  }
}
