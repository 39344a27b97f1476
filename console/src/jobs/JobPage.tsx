import { useQuery } from '@connectrpc/connect-query';
import { Alert, Skeleton, Tabs } from '@mantine/core';
import { IconHourglass, IconMessage } from '@tabler/icons-react';
import { lazy, Suspense, useDeferredValue, useEffect, useRef, useState } from 'react';
import { useParams } from 'react-router';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { jobTitle, waitText } from '../../../src/present/job.ts';
import { capitalize } from '../../../src/present/text.ts';
import { formatLocalTime } from '../../../src/present/time.ts';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { LoadFailure } from '../ui/errors/LoadFailure.tsx';
import { Loading } from '../ui/layout/Loading.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { useTab } from '../ui/layout/useTab.ts';
import { useRefresh } from '../ui/list/useList.ts';
import { pollMs } from '../ui/queries.ts';
import { useSession } from '../ui/session/session.ts';
import { Hold } from './Hold.tsx';
import { JobActions } from './JobActions.tsx';
import { JobLine } from './JobLine.tsx';
import { Approval, Fill } from './JobNotices.tsx';
import classes from './job.module.css';
import { Results } from './Results.tsx';
import { useRecords } from './records/record-queries.ts';
import { initialTab, jobTabs } from './tabs.ts';

const OtherTab = lazy(async () => ({ default: (await import('./OtherTab.tsx')).OtherTab }));

/** Status, progress, results and actions of a job. */
export function JobPage() {
  const { jobId = '' } = useParams();
  const { job, error, isPending, refetch } = useJob(jobId);
  // Deferred, the page is rendered in steps between which a phone reacts to its user.
  const deferredJob = useDeferredValue(job);
  const { role } = useSession();
  const [tab] = useTab(jobTabs(role), 'results');
  // Most jobs open with their records, which are requested beside the job. Reads of operators are
  // logged.
  useRecords(!deferredJob && role === 'user' && tab === 'results' ? { jobId } : undefined);
  if (deferredJob) return <Loaded job={deferredJob} stale={error} refetch={refetch} />;
  if (!job && !isPending)
    return <LoadFailure title="Job" error={error} retry={refetch} list={['/jobs', 'All jobs']} />;
  return (
    <Page title="Job">
      <Skeleton height={240} aria-label="Loading job" role="status" />
    </Page>
  );
}

/** Alerts about the state of a job. */
function Notices({ job }: { job: Job }) {
  return (
    <>
      {job.status === 'awaiting_approval' && <Approval job={job} />}
      {job.waitingFor !== '' && <Waiting waitingFor={job.waitingFor} />}
      {job.ended && job.success > 0 && job.rereadOf === '' && <Fill job={job} />}
      {job.hold && <Hold jobId={job.jobId} hold={job.hold} />}
      {job.reason !== '' && (
        <Alert color="gray" icon={<IconMessage />} title="Reason">
          {job.reason}
        </Alert>
      )}
    </>
  );
}

function Loaded({ job, stale, refetch }: { job: Job; stale: unknown; refetch: () => unknown }) {
  const { role } = useSession();
  // The tab does not change by itself while the job progresses.
  const [initial] = useState(() => initialTab(job, role));
  const [tab, selectTab] = useTab(jobTabs(role), initial);
  return (
    <Page title={jobTitle(job)} actions={<JobActions job={job} />}>
      {stale ? (
        <ErrorAlert error={stale} retry={refetch} title="This data may be out of date" />
      ) : null}
      <JobLine job={job} />
      <Notices job={job} />
      <Tabs value={tab} onChange={selectTab} keepMounted={false}>
        <Tabs.List mb="sm" className={classes.tabs}>
          {jobTabs(role).map((each) => (
            <Tabs.Tab value={each} key={each}>
              {capitalize(each)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="results">
          <Results job={job} />
        </Tabs.Panel>
        {tab !== 'results' && (
          <Tabs.Panel value={tab}>
            <Suspense fallback={<Loading />}>
              <OtherTab job={job} tab={tab} />
            </Suspense>
          </Tabs.Panel>
        )}
      </Tabs>
    </Page>
  );
}

/** Shows what a job waits for and, if it is known and not yet due, when it continues. */
function Waiting({ waitingFor }: { waitingFor: string }) {
  const [, reason = waitingFor, time] = /^(.*), next try (\S+Z)$/.exec(waitingFor) ?? [];
  const next = time === undefined ? null : new Date(time);
  return (
    <Alert color="yellow" icon={<IconHourglass />} title="Waiting">
      {waitText(reason)}
      {next !== null && next.getTime() > Date.now() && `. Continues ${formatLocalTime(next)}.`}
    </Alert>
  );
}

const pollInterval = (job: Job | undefined) => (job?.ended ? pollMs.idle : pollMs.active);

/** Loads a job and polls it until it ends. Operators can load any job, users only their own. */
export function useJob(jobId: string) {
  const {
    data: job,
    error,
    isPending,
    refetch,
  } = useQuery(
    JobService.method.getJob,
    { jobId },
    {
      refetchInterval: ({ state }) =>
        !state.data && state.error ? pollMs.idle : pollInterval(state.data),
    },
  );
  useFinalData(job);
  return { job, error, isPending, refetch };
}

/**
 * Reloads the data on screen when the job ends: polling ends with it, and the last poll may have
 * been before the end.
 */
function useFinalData(job: Job | undefined): void {
  const refresh = useRefresh();
  const running = useRef('');
  useEffect(() => {
    if (!job) return;
    if (job.ended && running.current === job.jobId) void refresh();
    running.current = job.ended ? '' : job.jobId;
  }, [job, refresh]);
}
