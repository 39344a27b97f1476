import { Alert, SimpleGrid } from '@mantine/core';
import type { Schedule } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { cronText } from '../../../src/present/cron.ts';
import { formatCount } from '../../../src/present/text.ts';
import { CopyId, Id } from '../ui/Id.tsx';
import { StatusBadge } from '../ui/jobs/StatusBadge.tsx';
import { Fact } from '../ui/layout/Section.tsx';
import { overlapLabels, spentText } from '../ui/schedules/columns.tsx';
import { Moment } from '../ui/time/Moment.tsx';

/** State, times, and limits of a schedule, the reason of its state, and its owner for operators. */
export function ScheduleSummary({ schedule }: { schedule: Schedule }) {
  const { scheduleId, userId, state, reason, cron, timeZone, units, costPerRun, overlap } = schedule;
  const { startAt, endAt, approved } = schedule;
  return (
    <>
      {reason !== '' && <Alert color="yellow">{reason}</Alert>}
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="md">
        <Fact name="Status">
          <StatusBadge status={state} />
        </Fact>
        <Fact name="Schedule">
          <CopyId value={scheduleId} name="schedule ID" />
        </Fact>
        {userId !== '' && (
          <Fact name="User">
            <Id of="users" value={userId} underline="always" />
          </Fact>
        )}
        {approved && <Fact name="Approval">Later runs are approved</Fact>}
        <Fact name="Times">
          {cronText(cron)} ({timeZone})
        </Fact>
        <Fact name="Units per run">{formatCount(units)}</Fact>
        <Fact name="Credits per run">{formatCount(Number(costPerRun))}</Fact>
        <Fact name="Credits spent">{spentText(schedule)}</Fact>
        <Fact name="If the last run has not ended">{overlapLabels[overlap] ?? overlap}</Fact>
        {startAt && (
          <Fact name="Starts">
            <Moment at={startAt} />
          </Fact>
        )}
        {endAt && (
          <Fact name="Ends">
            <Moment at={endAt} />
          </Fact>
        )}
      </SimpleGrid>
    </>
  );
}
