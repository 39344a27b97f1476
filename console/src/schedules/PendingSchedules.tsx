import { useQuery } from '@connectrpc/connect-query';
import { Anchor } from '@mantine/core';
import { Link } from 'react-router';
import { OperatorScheduleService, type Schedule } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { pollMs } from '../app/queries.ts';
import { Section } from '../layout/Section.tsx';
import { ListTable } from '../list/ListTable.tsx';
import type { Column } from '../list/list-content.ts';
import { formatCount } from '../number/format.ts';
import { Moment } from '../time/Moment.tsx';
import { nameColumn } from './columns.tsx';
import { DecisionButtons } from './DecisionButtons.tsx';

const columns: Column<Schedule>[] = [
  {
    title: 'User',
    cell: ({ userId }) => (
      <Anchor component={Link} to={`/users/${userId}`} size="sm">
        {userId.slice(0, 8)}
      </Anchor>
    ),
  },
  nameColumn,
  { title: 'Times', cell: ({ cron, timeZone }) => `${cron} (${timeZone})` },
  { title: 'Units per run', align: 'right', cell: ({ units }) => formatCount(units) },
  { title: 'Cost per run', align: 'right', cell: ({ costPerRun }) => formatCount(Number(costPerRun)) },
  {
    title: 'Total limit',
    align: 'right',
    cell: ({ maxTotalCredits }) =>
      maxTotalCredits === undefined ? 'None' : formatCount(Number(maxTotalCredits)),
  },
  { title: 'Ends', cell: ({ endAt }) => <Moment at={endAt} none="Never" /> },
  {
    title: 'Expires',
    cell: ({ decideBy }) => <Moment at={decideBy} relative />,
    sortBy: ({ decideBy }) => decideBy?.seconds,
  },
  { title: 'Actions', cell: (schedule) => <DecisionButtons schedule={schedule} /> },
];

/** Schedules awaiting approval, to approve or reject; nothing if there are none. */
export function PendingSchedules() {
  const query = useQuery(
    OperatorScheduleService.method.listSchedules,
    { state: 'awaiting_approval', pageSize: 100 },
    { refetchInterval: pollMs.list },
  );
  const schedules = query.data?.schedules ?? [];
  if (schedules.length === 0) return null;
  return (
    <Section
      title="Schedules"
      description="An approved schedule runs without further approvals, up to its limits."
    >
      <ListTable
        label="Schedules awaiting approval"
        rows={schedules}
        keyOf={({ scheduleId }) => scheduleId}
        query={query}
        columns={columns}
        minWidth={1000}
        empty={{ title: 'No schedules awaiting approval' }}
      />
    </Section>
  );
}
