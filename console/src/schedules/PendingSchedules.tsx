import { useMutation, useQuery } from '@connectrpc/connect-query';
import { Anchor, Group } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { OperatorScheduleService, type Schedule } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { pollMs } from '../app/queries.ts';
import { showError, showSuccess } from '../errors/toast.ts';
import { Section } from '../layout/Section.tsx';
import { ListTable } from '../list/ListTable.tsx';
import type { Column } from '../list/list-content.ts';
import { useRefresh } from '../list/useRefresh.ts';
import { formatCount } from '../number/format.ts';
import { CallButton } from '../permission/CallButton.tsx';
import { ReasonModal } from '../reason/ReasonModal.tsx';
import { Moment } from '../time/Moment.tsx';
import { scheduledJobText } from './columns.tsx';

const { method } = OperatorScheduleService;

const columns: Column<Schedule>[] = [
  {
    title: 'User',
    cell: ({ userId }) => (
      <Anchor component={Link} to={`/users/${userId}`} size="sm">
        {userId.slice(0, 8)}
      </Anchor>
    ),
  },
  { title: 'Schedule', cell: (schedule) => `${schedule.name}: ${scheduledJobText(schedule)}` },
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
];

/** Schedules awaiting approval, to approve or reject; nothing if there are none. */
export function PendingSchedules() {
  const query = useQuery(
    method.listSchedules,
    { state: 'awaiting_approval', pageSize: 100 },
    { refetchInterval: pollMs.list },
  );
  const refresh = useRefresh();
  const approve = useMutation(method.approveSchedule);
  const reject = useMutation(method.rejectSchedule);
  const [toReject, setToReject] = useState<Schedule | null>(null);
  const schedules = query.data?.schedules ?? [];
  if (schedules.length === 0) return null;
  const attempt = async (call: Promise<unknown>, done: string) => {
    try {
      await call;
      showSuccess(done);
      await refresh();
    } catch (error) {
      showError(error);
    }
  };
  const busy = approve.isPending || reject.isPending;
  const actions: Column<Schedule> = {
    title: 'Actions',
    cell: (schedule) => (
      <Group gap={6} wrap="nowrap">
        <CallButton
          call={method.approveSchedule}
          size="compact-sm"
          disabled={busy}
          onClick={() =>
            attempt(approve.mutateAsync({ scheduleId: schedule.scheduleId }), 'Schedule approved.')
          }
        >
          Approve
        </CallButton>
        <CallButton
          call={method.rejectSchedule}
          size="compact-sm"
          variant="default"
          disabled={busy}
          onClick={() => setToReject(schedule)}
        >
          Reject
        </CallButton>
      </Group>
    ),
  };
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
        columns={[...columns, actions]}
        minWidth={900}
        empty={{ title: 'No schedules awaiting approval' }}
      />
      <ReasonModal
        opened={toReject !== null}
        title="Reject this schedule?"
        description="It will not run. The user sees the reason."
        confirm="Reject"
        busy={busy}
        close={() => setToReject(null)}
        onConfirm={async (reason) => {
          const { scheduleId = '' } = toReject ?? {};
          setToReject(null);
          await attempt(reject.mutateAsync({ scheduleId, reason }), 'Schedule rejected.');
        }}
      />
    </Section>
  );
}
