import { useInfiniteQuery, useQuery } from '@connectrpc/connect-query';
import { Anchor } from '@mantine/core';
import { Link, useParams } from 'react-router';
import { type Schedule, ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { pollMs } from '../app/queries.ts';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { Loading } from '../layout/Loading.tsx';
import { Page } from '../layout/Page.tsx';
import { Section } from '../layout/Section.tsx';
import { ListTable } from '../list/ListTable.tsx';
import { runColumns, scheduledJobText } from './columns.tsx';
import { ScheduleActions } from './ScheduleActions.tsx';
import { ScheduleSummary } from './ScheduleSummary.tsx';
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
      <ScheduleSummary schedule={schedule} />
      {schedule.state === 'active' && <NextTimes schedule={schedule} />}
      <Runs scheduleId={schedule.scheduleId} />
    </Page>
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
