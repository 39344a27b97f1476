import { useQuery } from '@connectrpc/connect-query';
import { Code, SegmentedControl, Skeleton, Stack } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { lazy, Suspense, useState } from 'react';
import { useNavigate } from 'react-router';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { type Batch, OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { isFinalFailure } from '../../../src/contract/final-failure.ts';
import { counted, formatUnits, shortId } from '../../../src/present/text.ts';
import { ConfirmButton } from '../ui/actions/ActionButton.tsx';
import { StatusBadge } from '../ui/jobs/StatusBadge.tsx';
import { UnitsTable } from '../ui/jobs/UnitsTable.tsx';
import { Section } from '../ui/layout/Section.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { pollMs } from '../ui/queries.ts';
import { useSession } from '../ui/session/session.ts';
import { Moment } from '../ui/time/Moment.tsx';
import { Changes } from './Changes.tsx';
import { Differences } from './Differences.tsx';
import { Failures } from './Failures.tsx';
import { JobSummary } from './JobSummary.tsx';
import type { JobTab } from './tabs.ts';

const ProgressChart = lazy(async () => ({
  default: (await import('./ProgressChart.tsx')).ProgressChart,
}));

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
      return <Changes job={job} />;
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
        data={[
          ...choices,
          { value: 'FAILED', label: job.notRun > 0 ? 'Failed or not run' : 'Failed' },
        ]}
        style={{ alignSelf: 'flex-start' }}
      />
      <UnitsTable jobId={job.jobId} status={status} live={!job.ended} />
    </Stack>
  );
}

const columns: ListColumn<Batch>[] = [
  { title: '#', align: 'right', cell: ({ seq }) => seq + 1 },
  { title: 'Batch', cell: ({ batchId }) => <Code>{shortId(batchId)}</Code> },
  { title: 'Region', cell: ({ region }) => region },
  { title: 'State', cell: ({ state }) => <StatusBadge status={state} /> },
  { title: 'Attempts', align: 'right', cell: ({ attempt }) => attempt },
  { title: 'Succeeded', align: 'right', cell: ({ success }) => success },
  { title: 'Failed', align: 'right', cell: ({ failed }) => failed },
  { title: 'Units', align: 'right', cell: ({ total }) => total },
  { title: 'Delayed until', cell: ({ notBefore }) => <Moment at={notBefore} none="" /> },
  { title: 'Ended', cell: ({ endedAt }) => <Moment at={endedAt} /> },
];

/** Batches of a job with their state and attempts. For operators. */
export function Batches({ job }: { job: Job }) {
  const query = useQuery(
    OperatorService.method.listBatches,
    { jobId: job.jobId },
    { refetchInterval: job.ended ? false : pollMs.active },
  );
  return (
    <ListTable
      label="Batches"
      rows={query.data?.batches ?? []}
      keyOf={({ batchId }) => batchId}
      query={query}
      columns={columns}
      minWidth={760}
      empty={{ title: 'No batches', description: 'Batches are created when the job starts.' }}
    />
  );
}

/** Button that submits the failed units of an ended job again; absent if every failure is final. */
function RetryButton({ job }: { job: Job }) {
  const { role } = useSession();
  const { data } = useQuery(JobService.method.listFaults, { jobId: job.jobId });
  const navigate = useNavigate();
  const units = (data?.faults ?? [])
    .filter(({ code }) => !isFinalFailure(code))
    .reduce((sum, group) => sum + group.units, 0);
  if (units === 0) return null;
  const isNotRun = job.failed === job.notRun;
  const reason = isNotRun ? 'did not run' : 'failed';
  const cost = counted(units * job.unitPrice, 'credit');
  const payer = role === 'operator' ? ', charged to its owner' : '';
  const sentences = [
    `This creates a new job with the ${formatUnits(units)} that ${reason}, for ${cost}${payer}.`,
  ];
  const leftOut = job.failed - units;
  if (leftOut > 0) {
    const are = leftOut === 1 ? 'is' : 'are';
    sentences.push(`${formatUnits(leftOut)} would fail again and ${are} left out.`);
  }
  return (
    <ConfirmButton
      call={JobService.method.retryJob}
      request={{ jobId: job.jobId }}
      question={{
        title: isNotRun ? 'Resubmit units?' : 'Retry failed units?',
        text: sentences.join(' '),
        confirm: isNotRun ? 'Resubmit' : 'Retry',
        isHarmless: true,
      }}
      done={(created) => {
        void navigate(`/jobs/${created.jobId}`);
        return 'New job created.';
      }}
      style={{ alignSelf: 'flex-start' }}
      icon={IconRefresh}
    >
      {isNotRun ? 'Resubmit units' : 'Retry failed units'}
    </ConfirmButton>
  );
}
