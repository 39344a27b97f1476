import type { Meter } from '@opentelemetry/api';
import {
  type CounterLabels,
  type CounterName,
  counters,
  type DurationName,
  durations,
  type GaugeLabels,
  type GaugeName,
  gauges,
} from './catalog.ts';

/** Recorder of the metrics in the catalog. Its methods never throw or block. */
export interface Metrics {
  /** Adds to a counter. */
  add<Name extends CounterName>(name: Name, labels: CounterLabels<Name>, value?: number): void;
  /** Records a duration. */
  record(name: DurationName, milliseconds: number): void;
}

/** A value of a gauge. */
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
  const histogramOf = new Map(
    Object.entries(durations).map(([name, { about, buckets }]) => [
      name,
      meter.createHistogram(name, {
        description: about,
        unit: 's',
        advice: { explicitBucketBoundaries: [...buckets] },
      }),
    ]),
  );
  return {
    add: (name, labels, value = 1) => counterOf.get(name)!.add(value, labels),
    record: (name, milliseconds) => histogramOf.get(name)!.record(milliseconds / 1000),
  };
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
