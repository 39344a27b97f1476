import { LineChart } from '@mantine/charts';
import { formatLocalTime } from '../../../src/present/time.ts';
import { dateTicks } from '../ui/time/ticks.ts';
import type { SeriesPoint } from './series.ts';

interface ValueChartProps {
  /** Name of the value: "Price". */
  label: string;
  points: readonly SeriesPoint[];
  /** Formats a value: "€12.00". */
  format: (value: number) => string;
}

/** Chart of a value over time. A value holds until the next observation. */
export function ValueChart({ label, points, format }: ValueChartProps) {
  const rows = points.map(({ at, value }) => ({ at, [label]: value }));
  const [first, last] = [points[0]!, points.at(-1)!];
  const start = formatLocalTime(new Date(first.at));
  const words = `${label} from ${format(first.value)} on ${start} to ${format(last.value)}`;
  const ticks = dateTicks(first.at, last.at);
  const isConstant = points.every(({ value }) => value === first.value);
  return (
    <div role="img" aria-label={words}>
      <LineChart
        h={220}
        data={rows}
        dataKey="at"
        curveType="stepAfter"
        withDots={points.length < 50}
        xAxisProps={{
          type: 'number',
          domain: ['dataMin', 'dataMax'],
          ticks: ticks.map(({ at }) => at),
          tickFormatter: (at: number) => ticks.find((tick) => tick.at === at)?.label ?? '',
        }}
        yAxisProps={{ domain: [isConstant ? 0 : 'auto', 'auto'], width: 80 }}
        valueFormatter={format}
        // Without a point under the pointer the label is undefined.
        tooltipProps={{
          labelFormatter: (at) => (at === undefined ? '' : formatLocalTime(new Date(Number(at)))),
        }}
        series={[{ name: label, color: 'teal.6' }]}
        accessibilityLayer={false}
      />
    </div>
  );
}
