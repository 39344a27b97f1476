import { useQuery } from '@connectrpc/connect-query';
import { BarChart } from '@mantine/charts';
import { SegmentedControl, Skeleton, Text } from '@mantine/core';
import { useState } from 'react';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { formatCount } from '../../../src/present/text.ts';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { pollMs } from '../ui/queries.ts';

const spans = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
];

/** Chart of credits charged and refunded per day. */
export function Usage() {
  const [days, setDays] = useState('30');
  const { data, error, isPending, refetch } = useQuery(
    AccountService.method.getUsage,
    { days: Number(days) },
    { refetchInterval: pollMs.idle },
  );
  const rows = (data?.days ?? []).map(({ day, charged, refunded, jobs }) => ({
    day: day.slice(5),
    Charged: Number(charged),
    Refunded: Number(refunded),
    jobs,
  }));
  const sum = (select: (row: (typeof rows)[number]) => number) =>
    rows.reduce((total, row) => total + select(row), 0);
  const summary = `${formatCount(sum(({ jobs }) => jobs))} jobs, ${formatCount(sum(({ Charged }) => Charged))} credits charged, ${formatCount(sum(({ Refunded }) => Refunded))} refunded`;
  return (
    <Section
      title="Usage"
      description={data ? summary : undefined}
      actions={
        <SegmentedControl
          aria-label="Period"
          size="xs"
          value={days}
          onChange={setDays}
          data={spans}
        />
      }
    >
      {isPending && <Skeleton height={220} />}
      {error && !data && <ErrorAlert error={error} retry={refetch} />}
      {data && (
        <div role="img" aria-label={`Usage over ${days} days: ${summary}`}>
          <BarChart
            h={220}
            data={rows}
            dataKey="day"
            withLegend
            valueFormatter={formatCount}
            series={[
              { name: 'Charged', color: 'moss.6' },
              { name: 'Refunded', color: 'teal.6' },
            ]}
            accessibilityLayer={false}
          />
        </div>
      )}
      {data && (
        <Text size="xs" c="dimmed">
          Days are in UTC.
        </Text>
      )}
    </Section>
  );
}
