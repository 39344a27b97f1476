import { LineChart } from '@mantine/charts';
import { formatLocalTime } from '../../../src/present/time.ts';
import type { SeriesPoint } from './series.ts';

interface ValueChartProps {
  /** Name of the value: "Price". */
  label: string;
  points: readonly SeriesPoint[];
}

/** Chart of a value over time. A value holds until the next observation. */
export function ValueChart({ label, points }: ValueChartProps) {
  const rows = points.map(({ at, value }) => ({ at, [label]: value }));
  const [first, last] = [points[0]!, points.at(-1)!];
  const words = `${label} from ${first.value} on ${formatLocalTime(new Date(first.at))} to ${last.value}`;
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
          tickFormatter: (at: number) =>
            new Date(at).toLocaleDateString('en-US', { month: 'short', day: 'numeric' }),
        }}
        yAxisProps={{ domain: ['auto', 'auto'] }}
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
