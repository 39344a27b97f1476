import { useInfiniteQuery, useQuery } from '@connectrpc/connect-query';
import { Alert, Anchor, SimpleGrid } from '@mantine/core';
import { Link, useParams } from 'react-router';
import { type Schedule, ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { pollMs } from '../app/queries.ts';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { StatusBadge } from '../jobs/StatusBadge.tsx';
import { Fact } from '../layout/Fact.tsx';
import { Loading } from '../layout/Loading.tsx';
import { Page } from '../layout/Page.tsx';
import { Section } from '../layout/Section.tsx';
import { Identifier } from '../list/Identifier.tsx';
import { ListTable } from '../list/ListTable.tsx';
import { formatCount } from '../number/format.ts';
import { Moment } from '../time/Moment.tsx';
import { overlapLabels, runColumns, scheduledJobText, spentText } from './columns.tsx';
import { ScheduleActions } from './ScheduleActions.tsx';
import { Times } from './Times.tsx';

/** A schedule with its next times and its runs. */
export function SchedulePage() {
  const { scheduleId = '' } = useParams();
  const query = useQuery(
    ScheduleService.method.getSchedule,
    { scheduleId },
    { refetchInterval: pollMs.list },
  );
  if (query.error) return <ErrorAlert error={query.error} retry={query.refetch} />;
  if (!query.data) return <Loading />;
  const schedule = query.data;
  return (
    <Page
      title={schedule.name}
      description={scheduledJobText(schedule)}
      actions={
        <>
          <Anchor component={Link} to="/schedules" size="sm">
            All schedules
          </Anchor>
          <ScheduleActions schedule={schedule} />
        </>
      }
    >
      {schedule.reason !== '' && <Alert color="yellow">{schedule.reason}</Alert>}
      <Summary schedule={schedule} />
      {schedule.state === 'active' && <NextTimes schedule={schedule} />}
      <Runs scheduleId={schedule.scheduleId} />
    </Page>
  );
}

function Summary({ schedule }: { schedule: Schedule }) {
  const { scheduleId, state, cron, timeZone, units, costPerRun, overlap, startAt, endAt } = schedule;
  return (
    <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="md">
      <Fact name="Status">
        <StatusBadge status={state} />
      </Fact>
      <Fact name="Schedule">
        <Identifier value={scheduleId} name="schedule ID" />
      </Fact>
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
  );
}

function NextTimes({ schedule: { cron, timeZone, startAt, endAt } }: { schedule: Schedule }) {
  const limits = { ...(startAt ? { startAt } : {}), ...(endAt ? { endAt } : {}) };
  const { data } = useQuery(ScheduleService.method.previewSchedule, { cron, timeZone, ...limits });
  return (
    <Section title="Next runs">
      <Times times={data?.times ?? []} />
    </Section>
  );
}

function Runs({ scheduleId }: { scheduleId: string }) {
  const query = useInfiniteQuery(
    ScheduleService.method.listScheduleRuns,
    { scheduleId, pageSize: 50, pageToken: '' },
    {
      pageParamKey: 'pageToken',
      getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
      refetchInterval: pollMs.list,
    },
  );
  return (
    <Section title="Runs">
      <ListTable
        label="Runs"
        rows={query.data?.pages.flatMap(({ runs }) => runs) ?? []}
        keyOf={({ runId }) => runId}
        query={query}
        columns={runColumns}
        minWidth={760}
        empty={{ title: 'No runs yet', description: 'The first run starts at the next time.' }}
      />
    </Section>
  );
}
