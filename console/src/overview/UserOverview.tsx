import { createClient } from '@connectrpc/connect';
import { useQuery } from '@connectrpc/connect-query';
import { Button, Skeleton } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { lazy, Suspense } from 'react';
import { Link } from 'react-router';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { HistoryService } from '../../../gen/gleaner/history/v1/history_pb.ts';
import { ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { formatCount } from '../../../src/present/text.ts';
import { DownloadButton } from '../ui/actions/DownloadButton.tsx';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { exampleJobIds, hasWaitingExample } from '../ui/examples/stored-examples.ts';
import { LatestJobs } from '../ui/jobs/LatestJobs.tsx';
import { emptyFilter, maxPending, pendingText, useJobs } from '../ui/jobs/useJobs.ts';
import { Page } from '../ui/layout/Page.tsx';
import { Tile, Tiles } from '../ui/layout/Tiles.tsx';
import { useList } from '../ui/list/useList.ts';
import { pollMs, useLoading } from '../ui/queries.ts';
import { saveStream } from '../ui/session/download.ts';
import { useSession } from '../ui/session/session.ts';
import { transport } from '../ui/session/transport.ts';
import { Moment } from '../ui/time/Moment.tsx';
import { burnText, changedText, nextSchedule, outstandingJobs } from './figures.ts';
import { Usage } from './Usage.tsx';
import { welcomeSteps } from './welcome-steps.ts';

const Welcome = lazy(async () => ({ default: (await import('./Welcome.tsx')).Welcome }));

/** Loads the jobs that run: one query for all that show or count them. */
const useRunning = () => useJobs({ ...emptyFilter, status: 'processing' }, maxPending);

/** Loads the jobs that await approval, however old they are. */
const useWaiting = () => useJobs({ ...emptyFilter, status: 'awaiting_approval' }, maxPending);

/** Loads the schedules: one query for all that show or count them. */
const useSchedules = () =>
  useList(ScheduleService.method.listSchedules, {}, (page) => page.schedules, {
    refetchInterval: pollMs.idle,
  });

/** Loads the account: one query for all that show it. */
const useAccount = () =>
  useQuery(AccountService.method.getAccount, {}, { refetchInterval: pollMs.list });

/** The balance, and how long it lasts. */
function Credits() {
  const { isTest } = useSession();
  const balance = useAccount().data?.account?.balance;
  const usage = useQuery(
    AccountService.method.getUsage,
    { days: 7 },
    { refetchInterval: pollMs.idle },
  );
  const burnNote =
    balance !== undefined && usage.data ? burnText(balance, usage.data.days) : undefined;
  return (
    <Tile
      title="Credits"
      value={balance === undefined ? undefined : formatCount(balance)}
      note={isTest ? 'Jobs on test data cost none' : burnNote}
      to="/ledger"
      isUrgent={balance === 0n && !isTest}
    />
  );
}

const RunningJobs = () => (
  <Tile title="Running jobs" value={pendingText(useRunning())} to="/jobs?status=processing" />
);

const WaitingJobs = () => (
  <Tile
    title="Jobs awaiting approval"
    value={pendingText(useWaiting())}
    to="/jobs?status=awaiting_approval"
  />
);

function ChangedItems() {
  const items = useList(HistoryService.method.listTrackedItems, {}, (page) => page.items, {
    refetchInterval: pollMs.idle,
  });
  return (
    <Tile
      title="Changed since yesterday"
      value={items.first && changedText(items.rows, items.query.hasNextPage, Date.now())}
      note="tracked items"
      to="/history"
    />
  );
}

function NextRun() {
  const schedules = useSchedules();
  const next = nextSchedule(schedules.rows);
  return (
    <Tile
      title="Next scheduled run"
      value={schedules.first && <Moment at={next?.nextRunAt} relative none="None" />}
      note={next?.name}
      to={next ? `/schedules/${next.scheduleId}` : '/schedules'}
    />
  );
}

/**
 * What a user wants to know first: figures, running jobs, latest results, and the use of credits.
 */
export function UserOverview() {
  // Of the session, which has been loaded: the account would move the page when it arrives.
  const { name } = useSession();
  const { data, error, refetch } = useAccount();
  return (
    <Page
      title="Overview"
      description={name}
      actions={
        <>
          <Button component={Link} to="/submit">
            Submit a job
          </Button>
          <DownloadButton
            call={AccountService.method.exportAccount}
            save={() =>
              saveStream(createClient(AccountService, transport).exportAccount({}), 'account.jsonl')
            }
          >
            Export data
          </DownloadButton>
        </>
      }
    >
      {error && !data && <ErrorAlert error={error} retry={refetch} />}
      <Tiles>
        <Credits />
        <RunningJobs />
        <WaitingJobs />
        <ChangedItems />
        <NextRun />
      </Tiles>
      <Activity />
    </Page>
  );
}

/** First steps of a new user, the latest jobs, and the use of credits. */
function Activity() {
  const { jobs, query } = useJobs(emptyFilter, 20);
  const schedules = useSchedules();
  const [isDismissed, setDismissed] = useLocalStorage({
    key: 'gleaner.welcome-dismissed',
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  const outstanding = outstandingJobs(useWaiting().jobs, useRunning().jobs, jobs);
  const ended = jobs.filter((job) => job.ended);
  // All at once, so that nothing on the page moves.
  if (useLoading(query, schedules.query)) return <Skeleton height={320} />;
  const exampleIds = exampleJobIds();
  const steps = isDismissed
    ? []
    : welcomeSteps({ jobs, exampleIds, hasSchedule: schedules.rows.length > 0 });
  return (
    <Suspense fallback={<Skeleton height={320} />}>
      {(steps.length > 0 || hasWaitingExample()) && (
        <Welcome
          jobs={jobs}
          exampleIds={exampleIds}
          steps={steps}
          dismiss={() => setDismissed(true)}
        />
      )}
      {outstanding.length > 0 && (
        <LatestJobs title="Running and waiting" jobs={outstanding} query={query} owners={false} />
      )}
      <LatestJobs
        title="Latest results"
        jobs={ended}
        query={query}
        owners={false}
        empty={
          jobs.length > 0
            ? { title: 'No job has ended yet' }
            : {
                title: 'No jobs yet',
                description: 'Submit your first job with the form or a CSV file.',
              }
        }
      />
      <Usage />
    </Suspense>
  );
}
