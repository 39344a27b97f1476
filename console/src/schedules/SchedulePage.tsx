import { useQuery } from '@connectrpc/connect-query';
import { Anchor } from '@mantine/core';
import { Link, useParams } from 'react-router';
import { type Schedule, ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { jobTypeText } from '../../../src/present/names.ts';
import { LoadFailure } from '../ui/errors/LoadFailure.tsx';
import { Loading } from '../ui/layout/Loading.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import { useList } from '../ui/list/useList.ts';
import { pollMs } from '../ui/queries.ts';
import { runColumns } from '../ui/schedules/columns.tsx';
import { Times } from '../ui/schedules/Times.tsx';
import { ScheduleActions } from './ScheduleActions.tsx';
import { ScheduleSummary } from './ScheduleSummary.tsx';

/** A schedule with its next times and its runs. */
export function SchedulePage() {
  const { scheduleId = '' } = useParams();
  const query = useQuery(
    ScheduleService.method.getSchedule,
    { scheduleId },
    { refetchInterval: pollMs.list },
  );
  if (query.error) {
    const list = ['/schedules', 'All schedules'] as const;
    return <LoadFailure title="Schedule" error={query.error} retry={query.refetch} list={list} />;
  }
  if (!query.data) return <Loading />;
  const schedule = query.data;
  return (
    <Page
      title={schedule.name}
      description={jobTypeText(schedule)}
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
  const { query, rows } = useList(
    ScheduleService.method.listScheduleRuns,
    { scheduleId },
    (page) => page.runs,
  );
  return (
    <Section title="Runs">
      <ListTable
        label="Runs"
        rows={rows}
        keyOf={({ runId }) => runId}
        query={query}
        columns={runColumns}
        minWidth={760}
        empty={{ title: 'No runs yet', description: 'The first run starts at the next time.' }}
      />
    </Section>
  );
}
