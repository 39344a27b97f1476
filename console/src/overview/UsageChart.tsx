import { BarChart } from '@mantine/charts';
import { formatCount } from '../../../src/present/text.ts';

/** Credits of a day. */
interface DayOfUsage {
  day: string;
  Charged: number;
  Refunded: number;
}

/**
 * Bars of the credits charged and refunded per day. A file of its own, because it is loaded when it
 * becomes visible.
 */
export function UsageChart({ rows }: { rows: DayOfUsage[] }) {
  return (
    <BarChart
      h={220}
      data={rows}
      dataKey="day"
      withLegend
      xAxisProps={{ interval: 'equidistantPreserveStart' }}
      valueFormatter={formatCount}
      series={[
        { name: 'Charged', color: 'moss.6' },
        { name: 'Refunded', color: 'teal.6' },
      ]}
      accessibilityLayer={false}
    />
  );
}
