import { useQuery } from '@connectrpc/connect-query';
import { BarChart } from '@mantine/charts';
import { SegmentedControl, Skeleton, Text } from '@mantine/core';
import { useState } from 'react';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { every } from '../app/queries.ts';
import { FaultAlert } from '../fault/FaultAlert.tsx';
import { Section } from '../layout/Section.tsx';
import { countText } from '../number/text.ts';

const spans = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
];

/** Credits spent and given back by day, as a chart. */
export function Usage() {
  const [days, setDays] = useState('30');
  const { data, error, isPending, refetch } = useQuery(
    AccountService.method.getUsage,
    { days: Number(days) },
    { refetchInterval: every.resting },
  );
  const rows = (data?.days ?? []).map(({ day, charged, refunded, jobs }) => ({
    day: day.slice(5),
    Charged: Number(charged),
    'Given back': Number(refunded),
    jobs,
  }));
  const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + of(row), 0);
  const text = `${countText(sum(({ jobs }) => jobs))} jobs, ${countText(sum(({ Charged }) => Charged))} credits charged, ${countText(sum((row) => row['Given back']))} given back`;
  return (
    <Section
      title="Usage"
      about={data ? text : undefined}
      actions={<SegmentedControl aria-label="Time" size="xs" value={days} onChange={setDays} data={spans} />}
    >
      {isPending && <Skeleton height={220} />}
      {error && !data && <FaultAlert error={error} retry={refetch} />}
      {data && (
        <div role="img" aria-label={`Usage over ${days} days: ${text}`}>
          <BarChart
            h={220}
            data={rows}
            dataKey="day"
            withLegend
            valueFormatter={countText}
            series={[
              { name: 'Charged', color: 'blue.6' },
              { name: 'Given back', color: 'teal.6' },
            ]}
            accessibilityLayer={false}
          />
        </div>
      )}
      {data && (
        <Text size="xs" c="dimmed">
          Days in UTC.
        </Text>
      )}
    </Section>
  );
}
