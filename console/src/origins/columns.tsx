import { AreaChart } from '@mantine/charts';
import { Badge, Code, Stack, Text } from '@mantine/core';
import type { Origin } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import type { Column } from '../list/ListTable.tsx';
import { countText, shareText } from '../number/text.ts';
import { marketText } from '../offers/offers.ts';
import { Moment } from '../time/Moment.tsx';
import { totalsOf } from './totals.ts';

function State({ origin }: { origin: Origin }) {
  const { pausedUntil, reason, strikes, since, probing } = origin;
  if (pausedUntil === undefined) {
    return (
      <Badge variant="light" color="teal" tt="none">
        works
      </Badge>
    );
  }
  return (
    <Stack gap={2}>
      <Badge variant="light" color={probing ? 'yellow' : 'red'} tt="none">
        {probing ? 'being tried' : 'left alone'}
      </Badge>
      <Text size="xs" span>
        <Code>{reason}</Code> Next try: <Moment at={pausedUntil} relative />. {strikes} in a row, since{' '}
        <Moment at={since} />.
      </Text>
    </Stack>
  );
}

function Limits({ origin: { concurrency, requestsPerSecond } }: { origin: Origin }) {
  if (concurrency === 0 && requestsPerSecond === 0) return '–';
  return `${concurrency} at once, ${requestsPerSecond}/s`;
}

function LastHour({ origin }: { origin: Origin }) {
  const { requests } = totalsOf(origin.minutes);
  const rows = origin.minutes.map((minute, at) => ({ at, Requests: minute.requests }));
  return (
    <Stack gap={2} align="flex-end">
      {rows.length > 1 && (
        <AreaChart
          aria-hidden
          w={110}
          h={24}
          data={rows}
          dataKey="at"
          series={[{ name: 'Requests', color: 'blue.6' }]}
          curveType="linear"
          gridAxis="none"
          withXAxis={false}
          withYAxis={false}
          withTooltip={false}
          withDots={false}
          accessibilityLayer={false}
        />
      )}
      <Text size="xs">{requests === 1 ? '1 request' : `${countText(requests)} requests`}</Text>
    </Stack>
  );
}

/** Columns of the list of origins. */
export const originColumns: Column<Origin>[] = [
  {
    title: 'Site',
    cell: ({ origin, market, region }) => (
      <Stack gap={0}>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {origin}
        </Text>
        <Text size="xs" c="dimmed">
          {[market && marketText(market), region].filter(Boolean).join(' · ')}
        </Text>
      </Stack>
    ),
  },
  { title: 'State', cell: (origin) => <State origin={origin} /> },
  { title: 'Limits', cell: (origin) => <Limits origin={origin} /> },
  { title: 'Last hour', align: 'right', cell: (origin) => <LastHour origin={origin} /> },
  { title: 'Refused', align: 'right', cell: ({ minutes }) => shareText(totalsOf(minutes).refusedShare) },
  { title: 'Failed', align: 'right', cell: ({ minutes }) => shareText(totalsOf(minutes).failedShare) },
  {
    title: 'Mean time',
    align: 'right',
    cell: ({ minutes }) => `${countText(totalsOf(minutes).milliseconds)} ms`,
  },
];
