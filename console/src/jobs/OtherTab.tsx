import { SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { UnitsTable } from '../ui/jobs/UnitsTable.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { Batches } from './Batches.tsx';
import { Changes } from './Changes.tsx';
import { Differences } from './Differences.tsx';
import { Failures } from './Failures.tsx';
import { JobSummary } from './JobSummary.tsx';
import { RetryButton } from './RetryButton.tsx';
import type { JobTab } from './tabs.ts';

const ProgressChart = lazy(async () => ({ default: (await import('./ProgressChart.tsx')).ProgressChart }));

/** Contents of the tabs of the job page that are not the results. */
export function OtherTab({ job, tab }: { job: Job; tab: Exclude<JobTab, 'results'> }) {
  switch (tab) {
    case 'failures':
      return (
        <Stack>
          {job.ended && job.failed > 0 && <RetryButton job={job} />}
          <Failures job={job} />
        </Stack>
      );
    case 'units':
      return <Units job={job} />;
    case 'changes':
      return <Changes jobId={job.jobId} />;
    case 'batches':
      return <Batches job={job} />;
    case 'details':
      return <Details job={job} />;
  }
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
