import { Alert, Skeleton, Stack, Tabs } from '@mantine/core';
import { IconHourglass, IconMessage } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { useParams } from 'react-router';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { FaultAlert } from '../fault/FaultAlert.tsx';
import { Page } from '../layout/Page.tsx';
import { Section } from '../layout/Section.tsx';
import { kindText, marketText } from '../offers/offers.ts';
import { useSession } from '../session/session.ts';
import { Batches } from './Batches.tsx';
import { Faults } from './Faults.tsx';
import { Files } from './Files.tsx';
import { JobActions } from './JobActions.tsx';
import { JobProgress } from './JobProgress.tsx';
import { JobSummary } from './JobSummary.tsx';
import { StatusBadge } from './StatusBadge.tsx';
import { Units } from './Units.tsx';
import { useJob } from './useJob.ts';

const ProgressChart = lazy(async () => ({ default: (await import('./ProgressChart.tsx')).ProgressChart }));

/** One job: how it is, how it came there, and what can be done with it. */
export function JobPage() {
  const { jobId = '' } = useParams();
  const { job, error, isPending, refetch } = useJob(jobId);
  if (job) return <Loaded job={job} stale={error} refetch={refetch} />;
  return (
    <Page title="Job">
      {isPending ? (
        <Skeleton height={240} aria-label="Loading the job" role="status" />
      ) : (
        <FaultAlert error={error} retry={refetch} />
      )}
    </Page>
  );
}

function Loaded({ job, stale, refetch }: { job: Job; stale: unknown; refetch: () => unknown }) {
  const { role } = useSession();
  const operator = role === 'operator';
  const title = `${kindText(job.kind)} on ${marketText(job.market)}`;
  return (
    <Page title={title} about={<StatusBadge status={job.status} />} actions={<JobActions job={job} />}>
      {stale ? <FaultAlert error={stale} retry={refetch} title="What is shown is not fresh" /> : null}
      {job.waitingFor !== '' && (
        <Alert color="yellow" icon={<IconHourglass />} title="Held up">
          {job.waitingFor}
        </Alert>
      )}
      {job.reason !== '' && (
        <Alert color="gray" icon={<IconMessage />} title="What the operators say">
          {job.reason}
        </Alert>
      )}
      <Section title="Progress">
        <Stack>
          <div>
            <JobProgress job={job} />
          </div>
          {job.startedAt && (
            <Suspense fallback={<Skeleton height={220} />}>
              <ProgressChart job={job} />
            </Suspense>
          )}
          <JobSummary job={job} />
        </Stack>
      </Section>
      <Tabs defaultValue={operator ? 'faults' : 'files'} keepMounted={false}>
        <Tabs.List mb="md">
          {!operator && <Tabs.Tab value="files">Files</Tabs.Tab>}
          <Tabs.Tab value="faults">Failures</Tabs.Tab>
          <Tabs.Tab value="units">Units</Tabs.Tab>
          {operator && <Tabs.Tab value="batches">Batches</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="files">
          <Files job={job} />
        </Tabs.Panel>
        <Tabs.Panel value="faults">
          <Faults job={job} />
        </Tabs.Panel>
        <Tabs.Panel value="units">
          <Units job={job} />
        </Tabs.Panel>
        <Tabs.Panel value="batches">
          <Batches job={job} />
        </Tabs.Panel>
      </Tabs>
    </Page>
  );
}
