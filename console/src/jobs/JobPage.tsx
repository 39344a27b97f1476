import { Alert, Group, SegmentedControl, Skeleton, Stack, Tabs } from '@mantine/core';
import { IconHourglass, IconMessage } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { useParams } from 'react-router';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { ErrorAlert } from '../errors/ErrorAlert.tsx';
import { Changes } from '../history/Changes.tsx';
import { Page } from '../layout/Page.tsx';
import { Section } from '../layout/Section.tsx';
import { TestBadge } from '../layout/TestBadge.tsx';
import { useTab } from '../layout/useTab.ts';
import { kindText, marketText } from '../offers/offers.ts';
import { useSession } from '../session/session.ts';
import { formatLocalTime } from '../time/format.ts';
import { Batches } from './Batches.tsx';
import { Failures } from './Failures.tsx';
import { Hold } from './Hold.tsx';
import { JobActions } from './JobActions.tsx';
import { JobProgress } from './JobProgress.tsx';
import { JobSummary } from './JobSummary.tsx';
import { Results } from './Results.tsx';
import { StatusBadge } from './StatusBadge.tsx';
import { initialTab, jobTabs } from './tabs.ts';
import { UnitsTable } from './UnitsTable.tsx';
import { useJob } from './useJob.ts';

const ProgressChart = lazy(async () => ({ default: (await import('./ProgressChart.tsx')).ProgressChart }));

/** Status of a job, and a mark if it is a test job. */
function JobBadges({ job }: { job: Job }) {
  return (
    <Group gap={6}>
      <StatusBadge status={job.status} />
      {job.mode === 'test' && <TestBadge />}
    </Group>
  );
}

/** Status, progress, results and actions of a job. */
export function JobPage() {
  const { jobId = '' } = useParams();
  const { job, error, isPending, refetch } = useJob(jobId);
  if (job) return <Loaded job={job} stale={error} refetch={refetch} />;
  return (
    <Page title="Job">
      {isPending ? (
        <Skeleton height={240} aria-label="Loading job" role="status" />
      ) : (
        <ErrorAlert error={error} retry={refetch} />
      )}
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
  const title = `${kindText(job.kind)} on ${marketText(job.market)}`;
  return (
    <Page title={title} description={<JobBadges job={job} />} actions={<JobActions job={job} />}>
      {stale ? <ErrorAlert error={stale} retry={refetch} title="This data may be out of date" /> : null}
      <Notices job={job} />
      <Section title="Progress">
        <Stack>
          <div>
            <JobProgress job={job} />
          </div>
          {job.startedAt && job.total > 1 && (
            <Suspense fallback={<Skeleton height={220} />}>
              <ProgressChart job={job} />
            </Suspense>
          )}
          <JobSummary job={job} />
        </Stack>
      </Section>
      <Tabs value={tab} onChange={selectTab} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="results">Results</Tabs.Tab>
          <Tabs.Tab value="failures">Failures</Tabs.Tab>
          <Tabs.Tab value="units">Units</Tabs.Tab>
          {!operator && <Tabs.Tab value="changes">Changes</Tabs.Tab>}
          {operator && <Tabs.Tab value="batches">Batches</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="results">
          <Results job={job} />
        </Tabs.Panel>
        <Tabs.Panel value="failures">
          <Failures job={job} />
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
      </Tabs>
    </Page>
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
