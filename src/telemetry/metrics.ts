import type {
  CounterLabels,
  CounterName,
  DistributionName,
  GaugeLabels,
  GaugeName,
} from './catalog.ts';

/** Labels of a series by name. Labels that do not apply are absent. */
export type Labels = Readonly<Record<string, string | number>>;

/** Sum of a counter for one combination of labels. */
export interface CounterSeries {
  name: CounterName;
  labels: Labels;
  value: number;
}

/** Distribution of durations for one combination of labels. */
export interface DistributionSeries {
  name: DistributionName;
  labels: Labels;
  /** Number of values in each bucket. The last one has the values above the highest bound. */
  counts: number[];
  /** Sum of the values in milliseconds. */
  sumMs: number;
}

/** Measurements of a process. */
export interface MetricsReport {
  counters: CounterSeries[];
  distributions: DistributionSeries[];
}

/** Recorder of the metrics in the catalog. Its methods never throw or block. */
export interface Metrics {
  add<Name extends CounterName>(name: Name, labels: CounterLabels<Name>, value?: number): void;
  record(name: DistributionName, milliseconds: number, labels?: Labels): void;
  /** Adds the measurements of a worker process. */
  addReport(report: MetricsReport): void;
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
export const noMetrics: Metrics = { add() {}, record() {}, addReport() {} };
