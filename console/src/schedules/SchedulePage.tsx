import { useQuery } from '@connectrpc/connect-query';
import { Alert, Code, List, SimpleGrid, Text } from '@mantine/core';
import { useNavigate, useParams } from 'react-router';
import { type Schedule, ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { findJobType } from '../../../src/contract/job-types.ts';
import { cronText } from '../../../src/present/cron.ts';
import { jobTypeText } from '../../../src/present/names.ts';
import { formatCount, formatUnits } from '../../../src/present/text.ts';
import { CopyId } from '../ui/CopyId.tsx';
import { LoadFailure } from '../ui/errors/LoadFailure.tsx';
import { Id } from '../ui/Id.tsx';
import { StatusBadge } from '../ui/jobs/StatusBadge.tsx';
import { Loading } from '../ui/layout/Loading.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { Fact, Section } from '../ui/layout/Section.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import { useList } from '../ui/list/useList.ts';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { pollMs } from '../ui/queries.ts';
import { overlapLabels, runColumns, spentText } from '../ui/schedules/columns.tsx';
import { optionParts, requestParts } from '../ui/schedules/request-parts.ts';
import { Times } from '../ui/schedules/Times.tsx';
import { useSession } from '../ui/session/session.ts';
import { TextLink } from '../ui/TextLink.tsx';
import { Moment } from '../ui/time/Moment.tsx';
import { ScheduleActions } from './ScheduleActions.tsx';

const localZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Characters of a request that are shown. Requests with files have megabytes. */
const maxShown = 20_000;

/** List of the caller's role, to which the page of a schedule links. */
const lists = {
  operator: ['/approvals', 'All approvals'],
  user: ['/schedules', 'All schedules'],
} as const;

/**
 * A schedule with its next times and its runs for its owner, and with its request for operators.
 */
export function SchedulePage() {
  const { scheduleId = '' } = useParams();
  const { role } = useSession();
  const query = useQuery(
    ScheduleService.method.getSchedule,
    { scheduleId },
    { refetchInterval: pollMs.list },
  );
  const list = lists[role];
  if (query.error)
    return <LoadFailure title="Schedule" error={query.error} retry={query.refetch} list={list} />;
  if (!query.data) return <Loading />;
  const schedule = query.data;
  return (
    <Page
      title={schedule.name}
      description={schedule.name === jobTypeText(schedule) ? undefined : jobTypeText(schedule)}
      actions={
        <>
          <TextLink to={list[0]}>{list[1]}</TextLink>
          {role === 'user' && <ScheduleActions schedule={schedule} />}
        </>
      }
    >
      <ScheduleSummary schedule={schedule} />
      <Collected schedule={schedule} />
      {role === 'user' && schedule.state === 'active' && <NextTimes schedule={schedule} />}
      {role === 'user' && <Runs scheduleId={schedule.scheduleId} />}
      {role === 'operator' && (
        <Section title="Request of each run">
          <Code block tabIndex={0} role="region" aria-label="Request" style={{ overflow: 'auto' }}>
            {shownRequest(schedule.request ?? '')}
          </Code>
        </Section>
      )}
    </Page>
  );
}

function shownRequest(request: string): string {
  if (request.length > maxShown) return `${request.slice(0, maxShown)}…`;
  return request === '' ? '' : JSON.stringify(JSON.parse(request), null, 2);
}

/** What each run collects, and with which options. */
function Collected({ schedule }: { schedule: Schedule }) {
  const { request, options, units, state } = schedule;
  const { role } = useSession();
  const jobType = findJobType(schedule);
  const parts = jobType && request ? requestParts(jobType, request) : null;
  const facts = [...(parts?.fields ?? []), ...optionParts(options)];
  return (
    <Section
      title="What each run collects"
      description={`${formatUnits(units)}, ${jobTypeText(schedule)}`}
      actions={
        jobType && role === 'user' && state !== 'ended' && <ChangeButton schedule={schedule} />
      }
    >
      {facts.length > 0 && (
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="md" mb="sm">
          {facts.map(([label, text]) => (
            <Fact key={label} name={label}>
              {text}
            </Fact>
          ))}
        </SimpleGrid>
      )}
      {parts && parts.units.length > 0 && (
        <List size="sm" style={{ overflowWrap: 'anywhere' }}>
          {parts.units.map((unit, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: A request may contain a unit twice.
            <List.Item key={at}>{unit}</List.Item>
          ))}
        </List>
      )}
      {parts && parts.total > parts.units.length && (
        <Text size="sm" c="dimmed">
          And {formatCount(parts.total - parts.units.length)} more.
        </Text>
      )}
    </Section>
  );
}

/** Opens the request of a schedule in the form in which it was entered. */
function ChangeButton({ schedule: { scheduleId, market, kind } }: { schedule: Schedule }) {
  const navigate = useNavigate();
  return (
    <CallButton
      call={ScheduleService.method.updateSchedule}
      inRow
      onClick={() => void navigate(`/submit/${market}/${kind}?schedule=${scheduleId}`)}
    >
      Change
    </CallButton>
  );
}

function NextTimes({ schedule: { cron, timeZone, startAt, endAt } }: { schedule: Schedule }) {
  const limits = { ...(startAt ? { startAt } : {}), ...(endAt ? { endAt } : {}) };
  const { data } = useQuery(ScheduleService.method.previewSchedule, { cron, timeZone, ...limits });
  return (
    <Section
      title="Next runs"
      description={
        timeZone === localZone()
          ? `In your time zone, ${timeZone}.`
          : `In your time zone, ${localZone()}. The schedule follows ${timeZone}.`
      }
    >
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

/** State, times, and limits of a schedule, the reason of its state, and its owner for operators. */
function ScheduleSummary({ schedule }: { schedule: Schedule }) {
  const { scheduleId, userId, state, reason, cron, timeZone, units, costPerRun, overlap } =
    schedule;
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
