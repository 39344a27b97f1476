import { Alert, Anchor, SimpleGrid } from '@mantine/core';
import { Link } from 'react-router';
import type { Schedule } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { StatusBadge } from '../jobs/StatusBadge.tsx';
import { Fact } from '../layout/Fact.tsx';
import { Identifier } from '../list/Identifier.tsx';
import { formatCount } from '../number/format.ts';
import { Moment } from '../time/Moment.tsx';
import { overlapLabels, spentText } from './columns.tsx';

/** State, times, and limits of a schedule, the reason of its state, and its owner for operators. */
export function ScheduleSummary({ schedule }: { schedule: Schedule }) {
  const { scheduleId, userId, state, reason, cron, timeZone, units, costPerRun, overlap } = schedule;
  const { startAt, endAt, decideBy } = schedule;
  return (
    <>
      {reason !== '' && <Alert color="yellow">{reason}</Alert>}
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="md">
        <Fact name="Status">
          <StatusBadge status={state} />
        </Fact>
        <Fact name="Schedule">
          <Identifier value={scheduleId} name="schedule ID" />
        </Fact>
        {userId !== '' && (
          <Fact name="User">
            <Anchor component={Link} to={`/users/${userId}`} size="sm" underline="always">
              {userId.slice(0, 8)}
            </Anchor>
          </Fact>
        )}
        {decideBy && (
          <Fact name="Approval expires">
            <Moment at={decideBy} relative />
          </Fact>
        )}
        <Fact name="Times">
          {cron} ({timeZone})
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
