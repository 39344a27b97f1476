import { type HrTime, ValueType } from '@opentelemetry/api';
import { hrTime } from '@opentelemetry/core';
import { emptyResource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  InstrumentType,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import { withTimeout } from '../base/abort.ts';
import { counters, distributions, type GaugeName, gauges as gaugeCatalog } from './catalog.ts';
import type { CounterSeries, DistributionSeries, GaugeReaders, Labels } from './metrics.ts';
import type { MetricsRecorder } from './recorder.ts';

/** Options for createMetricProducer(). */
export interface ProducedMetrics {
  metrics: Pick<MetricsRecorder, 'read'>;
  /** Read at each collection, in parallel. */
  gauges: readonly GaugeReaders[];
  /** Version of the program. */
  version: string;
  /** Default: all values are sums since the start. */
  temporalityOf?(instrument: InstrumentType): AggregationTemporality;
}

/**
 * Values of a series: one for a counter; the counts of the buckets, and the sum, for a
 * distribution.
 */
type Values = readonly number[];

/** Times of a collection. */
interface Period {
  /** Start of the process, and the last collection or else the start. */
  startTime: HrTime;
  lastTime: HrTime;
  endTime: HrTime;
}

/** Creates a producer that passes the recorded sums and the gauges to one reader of the SDK. */
export function createMetricProducer({
  metrics,
  gauges,
  version,
  temporalityOf = () => AggregationTemporality.CUMULATIVE,
}: ProducedMetrics): MetricProducer {
  // performance.now() is 0 at the start of the process.
  const startTime = hrTime(0);
  let lastTime = startTime;
  const counterTemporality = temporalityOf(InstrumentType.COUNTER);
  const distributionTemporality = temporalityOf(InstrumentType.HISTOGRAM);
  const counterValues = createChanges(counterTemporality);
  const distributionValues = createChanges(distributionTemporality);
  return {
    async collect(options): Promise<CollectionResult> {
      const { readings, errors } = await readGauges(gauges, options?.timeoutMillis);
      const read = metrics.read();
      const period: Period = { startTime, lastTime, endTime: hrTime() };
      lastTime = period.endTime;
      const sums = read.counters.map((series) => ({
        series,
        values: counterValues(series, [series.value]),
      }));
      const spreads = read.distributions.map((series) => ({
        series,
        values: distributionValues(series, [...series.counts, series.sumMs / 1000]),
      }));
      const found = [
        ...describeCounters(sums, period, counterTemporality),
        ...describeDistributions(spreads, period, distributionTemporality),
        ...readings.map((gauge) => describeGauge(gauge, period)),
      ];
      const scopeMetrics = [{ scope: { name: 'gleaner', version }, metrics: found }];
      return { resourceMetrics: { resource: emptyResource(), scopeMetrics }, errors };
    },
  };
}

/**
 * Returns a function that returns the values to export of a series: all of them, or the difference
 * to the last collection, which is null if there is none.
 */
function createChanges(temporality: AggregationTemporality) {
  if (temporality === AggregationTemporality.CUMULATIVE)
    return (_series: object, values: Values) => values;
  const last = new WeakMap<object, Values>();
  return (series: object, values: Values): Values | null => {
    const before = last.get(series);
    last.set(series, values);
    const changes = values.map((value, index) => value - (before?.[index] ?? 0));
    if (before === undefined || changes.some((change) => change !== 0)) return changes;
    return null;
  };
}

interface Collected<Series> {
  series: Series;
  values: Values | null;
}

/** Groups the series with values by their metric. */
function byName<Series extends { name: string }>(collected: readonly Collected<Series>[]) {
  const present = collected.filter(
    (one): one is { series: Series; values: Values } => one.values !== null,
  );
  return Map.groupBy(present, ({ series }) => series.name as Series['name']);
}

/** Returns the attributes and the times of a point. */
const pointOf = (attributes: Labels, period: Period, temporality: AggregationTemporality) => ({
  attributes,
  startTime: temporality === AggregationTemporality.DELTA ? period.lastTime : period.startTime,
  endTime: period.endTime,
});

function describeCounters(
  sums: readonly Collected<CounterSeries>[],
  period: Period,
  aggregationTemporality: AggregationTemporality,
): MetricData[] {
  return [...byName(sums)].map(([name, series]) => ({
    descriptor: {
      name,
      description: counters[name].about,
      unit: '',
      valueType: ValueType.DOUBLE,
    },
    dataPointType: DataPointType.SUM,
    isMonotonic: true,
    aggregationTemporality,
    dataPoints: series.map(({ series: { labels }, values }) => ({
      ...pointOf(labels, period, aggregationTemporality),
      value: values[0]!,
    })),
  }));
}

function describeDistributions(
  spreads: readonly Collected<DistributionSeries>[],
  period: Period,
  aggregationTemporality: AggregationTemporality,
): MetricData[] {
  return [...byName(spreads)].map(([name, series]) => {
    const { about: description, buckets } = distributions[name];
    return {
      descriptor: {
        name,
        description,
        unit: 's',
        valueType: ValueType.DOUBLE,
      },
      dataPointType: DataPointType.HISTOGRAM,
      aggregationTemporality,
      dataPoints: series.map(({ series: { labels }, values }) => {
        const counts = values.slice(0, -1);
        const count = counts.reduce((total, one) => total + one, 0);
        return {
          ...pointOf(labels, period, aggregationTemporality),
          value: { buckets: { boundaries: [...buckets], counts }, sum: values.at(-1)!, count },
        };
      }),
    };
  });
}

/** A gauge with its samples. */
interface GaugeReading {
  name: GaugeName;
  samples: readonly { labels: Labels; value: number }[];
}

/**
 * Reads all gauges. Returns the ones read within the timeout, and the errors of the
 * others.
 */
async function readGauges(gauges: readonly GaugeReaders[], timeoutMs: number | undefined) {
  const pending = gauges.flatMap((readers) =>
    Object.entries(readers).map(async ([name, read]): Promise<GaugeReading> => {
      const samples =
        timeoutMs === undefined ? read() : withTimeout(timeoutMs, `The gauge ${name}`, read());
      return { name: name as GaugeName, samples: await samples };
    }),
  );
  const results = await Promise.allSettled(pending);
  return {
    readings: results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    errors: results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    ),
  };
}

function describeGauge(
  { name, samples }: GaugeReading,
  { startTime, endTime }: Period,
): MetricData {
  const unit = name.endsWith('_seconds') ? 's' : '';
  return {
    descriptor: {
      name,
      description: gaugeCatalog[name].about,
      unit,
      valueType: ValueType.DOUBLE,
    },
    dataPointType: DataPointType.GAUGE,
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
    dataPoints: samples.map(({ labels, value }) => ({
      attributes: labels,
      startTime,
      endTime,
      value,
    })),
  };
}
