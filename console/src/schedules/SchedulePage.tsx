import { useInfiniteQuery, useQuery } from '@connectrpc/connect-query';
import { Alert, Anchor, List, SimpleGrid, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link, useParams } from 'react-router';
import { type Schedule, ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { pollMs } from '../app/queries.ts';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { StatusBadge } from '../jobs/StatusBadge.tsx';
import { Loading } from '../layout/Loading.tsx';
import { Page } from '../layout/Page.tsx';
import { Section } from '../layout/Section.tsx';
import { Identifier } from '../list/Identifier.tsx';
import { ListTable } from '../list/ListTable.tsx';
import { formatCount } from '../number/format.ts';
import { Moment } from '../time/Moment.tsx';
import { runColumns, scheduledJobText, spentText } from './columns.tsx';
import { ScheduleActions } from './ScheduleActions.tsx';

const overlaps: Readonly<Record<string, string>> = {
  skip: 'Skip the run',
  queue: 'Wait for the last run',
  cancel: 'Cancel the last run',
};

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

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Stack gap={0}>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text component="div" size="sm">
        {children}
      </Text>
    </Stack>
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
      <Fact name="If the last run has not ended">{overlaps[overlap] ?? overlap}</Fact>
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
      <List size="sm">
        {data?.times.map((time) => (
          <List.Item key={String(time.seconds)}>
            <Moment at={time} />
          </List.Item>
        ))}
      </List>
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
