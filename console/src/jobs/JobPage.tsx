import { Alert, SegmentedControl, Skeleton, Stack, Tabs } from '@mantine/core';
import { IconHourglass, IconMessage } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { useParams } from 'react-router';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { jobTitle } from '../../../src/present/job.ts';
import { formatLocalTime } from '../../../src/present/time.ts';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { LoadFailure } from '../ui/errors/LoadFailure.tsx';
import { UnitsTable } from '../ui/jobs/UnitsTable.tsx';
import { Page } from '../ui/layout/Page.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { useTab } from '../ui/layout/useTab.ts';
import { useSession } from '../ui/session/session.ts';
import { Batches } from './Batches.tsx';
import { Changes } from './Changes.tsx';
import { Differences } from './Differences.tsx';
import { Failures } from './Failures.tsx';
import { Hold } from './Hold.tsx';
import { JobActions } from './JobActions.tsx';
import { JobLine } from './JobLine.tsx';
import { JobSummary } from './JobSummary.tsx';
import { Results } from './Results.tsx';
import { RetryButton } from './RetryButton.tsx';
import { initialTab, jobTabs } from './tabs.ts';
import { useJob } from './useJob.ts';

const ProgressChart = lazy(async () => ({ default: (await import('./ProgressChart.tsx')).ProgressChart }));

/** Status, progress, results and actions of a job. */
export function JobPage() {
  const { jobId = '' } = useParams();
  const { job, error, isPending, refetch } = useJob(jobId);
  if (job) return <Loaded job={job} stale={error} refetch={refetch} />;
  if (!isPending)
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
      {job.waitingFor !== '' && <Waiting waitingFor={job.waitingFor} />}
      {job.hold && <Hold jobId={job.jobId} hold={job.hold} />}
      {job.reason !== '' && (
        <Alert color="gray" icon={<IconMessage />} title="Message from the operators">
          {job.reason}
        </Alert>
      )}
    </>
  );
}

function Loaded({ job, stale, refetch }: { job: Job; stale: unknown; refetch: () => unknown }) {
  const { role } = useSession();
  const operator = role === 'operator';
  // The tab does not change by itself while the job progresses.
  const [initial] = useState(() => initialTab(job, role));
  const [tab, selectTab] = useTab(jobTabs(role), initial);
  return (
    <Page title={jobTitle(job)} actions={<JobActions job={job} />}>
      {stale ? <ErrorAlert error={stale} retry={refetch} title="This data may be out of date" /> : null}
      <JobLine job={job} />
      <Notices job={job} />
      <Tabs value={tab} onChange={selectTab} keepMounted={false}>
        <Tabs.List mb="sm">
          <Tabs.Tab value="results">Results</Tabs.Tab>
          <Tabs.Tab value="failures">Failures</Tabs.Tab>
          <Tabs.Tab value="units">Units</Tabs.Tab>
          {!operator && <Tabs.Tab value="changes">Changes</Tabs.Tab>}
          {operator && <Tabs.Tab value="batches">Batches</Tabs.Tab>}
          <Tabs.Tab value="details">Details</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="results">
          <Results job={job} />
        </Tabs.Panel>
        <Tabs.Panel value="failures">
          <Stack>
            {job.ended && job.failed > 0 && <RetryButton job={job} />}
            <Failures job={job} />
          </Stack>
        </Tabs.Panel>
        <Tabs.Panel value="units">
          <Units job={job} />
        </Tabs.Panel>
        <Tabs.Panel value="changes">
          <Changes jobId={job.jobId} />
        </Tabs.Panel>
        <Tabs.Panel value="batches">
          <Batches job={job} />
        </Tabs.Panel>
        <Tabs.Panel value="details">
          <Details job={job} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}

/** Facts of a job and the chart of its progress. */
function Details({ job }: { job: Job }) {
  return (
    <Stack>
      <JobSummary job={job} />
      {job.rereadOf !== '' && job.ended && (
        <Section title="Differences from the first job">
          <Differences job={job} />
        </Section>
      )}
      {job.startedAt && job.total > 1 && (
        <Section title="Progress">
          <Suspense fallback={<Skeleton height={220} />}>
            <ProgressChart job={job} />
          </Suspense>
        </Section>
      )}
    </Stack>
  );
}

const choices = [
  { value: '', label: 'All' },
  { value: 'PENDING', label: 'Outstanding' },
  { value: 'SUCCESS', label: 'Succeeded' },
];

/** Units of a job, filtered by status. */
function Units({ job }: { job: Job }) {
  const [status, setStatus] = useState('');
  return (
    <Stack align="stretch">
      <SegmentedControl
        aria-label="Filter by status"
        value={status}
        onChange={setStatus}
        data={[...choices, { value: 'FAILED', label: job.notRun > 0 ? 'Failed or not run' : 'Failed' }]}
        style={{ alignSelf: 'flex-start' }}
      />
      <UnitsTable jobId={job.jobId} status={status} live={!job.ended} />
    </Stack>
  );
}

/** Shows what a job waits for and, if it is known and not yet due, when it continues. */
function Waiting({ waitingFor }: { waitingFor: string }) {
  const [, reason = waitingFor, time] = /^(.*), next try (\S+Z)$/.exec(waitingFor) ?? [];
  const next = time === undefined ? null : new Date(time);
  return (
    <Alert color="yellow" icon={<IconHourglass />} title="Waiting">
      {reason}
      {next !== null && next.getTime() > Date.now() && `. Continues ${formatLocalTime(next)}.`}
    </Alert>
  );
}
