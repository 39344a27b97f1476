import { Button, Drawer, Group, Paper, Text } from '@mantine/core';
import { IconCheck, IconX } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { jobName, jobTitle } from '../../../src/present/job.ts';
import { formatCount } from '../../../src/present/text.ts';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { JobName, ownerColumn } from '../ui/jobs/JobsTable.tsx';
import { UnitsTable } from '../ui/jobs/UnitsTable.tsx';
import { useDecisions } from '../ui/jobs/useDecisions.ts';
import { usePending } from '../ui/jobs/useJobs.ts';
import { Page } from '../ui/layout/Page.tsx';
import { ListTable } from '../ui/list/ListTable.tsx';
import type { ListColumn } from '../ui/list/list-content.ts';
import { RowActions } from '../ui/list/RowActions.tsx';
import { checkboxesOf } from '../ui/list/SelectionCheckbox.tsx';
import { CallButton } from '../ui/permission/CallButton.tsx';
import { ReasonModal } from '../ui/reason/ReasonModal.tsx';
import { TextLink } from '../ui/TextLink.tsx';
import { Moment } from '../ui/time/Moment.tsx';

const columns: ListColumn<Job>[] = [
  {
    title: 'Job',
    cell: (job) => (
      <>
        <JobName job={job} />
        {job.scheduleId !== '' && <ScheduleNote scheduleId={job.scheduleId} />}
      </>
    ),
  },
  ownerColumn,
  {
    title: 'Units',
    align: 'right',
    cell: (job) => formatCount(job.total),
    sortBy: ({ total }) => total,
  },
  {
    title: 'Cost',
    align: 'right',
    cell: (job) => formatCount(job.cost),
    sortBy: ({ cost }) => cost,
  },
  { title: 'Balance', align: 'right', cell: (job) => <Balance job={job} /> },
  {
    title: 'Expires',
    cell: (job) => <Moment at={job.decideBy} relative />,
    sortBy: ({ decideBy }) => decideBy?.seconds,
  },
];

function ScheduleNote({ scheduleId }: Pick<Job, 'scheduleId'>) {
  return (
    <Text size="xs">
      Run of a <TextLink to={`/schedules/${scheduleId}`}>schedule</TextLink>. An approval covers its
      later runs that cost no more.
    </Text>
  );
}

function Balance({ job }: { job: Job }) {
  if (job.userBalance === undefined) return '–';
  const short = job.userBalance < job.cost;
  return (
    <>
      {formatCount(job.userBalance)}
      {short && (
        <Text size="xs" fw={600} c="var(--mantine-color-error)">
          Insufficient
        </Text>
      )}
    </>
  );
}

/** Jobs awaiting approval, to approve or reject one by one or in bulk. */
export function ApprovalsPage() {
  const { jobs, query } = usePending();
  const { busy, failures, approve, reject } = useDecisions();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [viewed, setViewed] = useState<Job | null>(null);
  const [toReject, setToReject] = useState<readonly Job[]>([]);
  const selectedJobs = jobs.filter(({ jobId }) => selected.has(jobId));
  const actions: ListColumn<Job> = {
    title: 'Actions',
    align: 'right',
    cell: (job) => (
      <RowActions>
        <Button size="compact-sm" variant="default" onClick={() => setViewed(job)}>
          View units
        </Button>
        <CallButton
          call={OperatorService.method.approveJob}
          size="compact-sm"
          disabled={busy}
          onClick={() => approve([job])}
        >
          Approve
        </CallButton>
        <CallButton
          inRow
          call={OperatorService.method.rejectJob}
          disabled={busy}
          onClick={() => setToReject([job])}
        >
          Reject
        </CallButton>
      </RowActions>
    ),
  };
  return (
    <Page
      title="Approvals"
      description="Jobs awaiting approval. Undecided jobs are rejected when they expire."
    >
      {selectedJobs.length > 0 && (
        <SelectionBar
          jobs={selectedJobs}
          busy={busy}
          approve={() => approve(selectedJobs).then(() => setSelected(new Set()))}
          reject={() => setToReject(selectedJobs)}
        />
      )}
      <ListTable
        label="Jobs awaiting approval"
        rows={jobs}
        keyOf={({ jobId }) => jobId}
        query={query}
        columns={[...columns, actions]}
        minWidth={900}
        selection={checkboxesOf<Job>({
          selected,
          change: setSelected,
          labelOf: (job) => `${jobName(job)} by ${job.userName || job.jobId}`,
        })}
        below={({ jobId }) =>
          failures.has(jobId) ? (
            <ErrorAlert error={failures.get(jobId)} title="Approval failed" />
          ) : null
        }
        empty={{
          title: 'No jobs awaiting approval',
          description: 'New jobs appear here when users submit them.',
        }}
      />
      <UnitsDrawer job={viewed} close={() => setViewed(null)} />
      <ReasonModal
        opened={toReject.length > 0}
        title={toReject.length === 1 ? 'Reject this job?' : `Reject ${toReject.length} jobs?`}
        description={rejectionText(toReject.length)}
        confirm="Reject"
        busy={busy}
        close={() => setToReject([])}
        onConfirm={async (reason) => {
          setToReject([]);
          await reject(toReject, reason);
          setSelected(new Set());
        }}
      />
    </Page>
  );
}

interface SelectionBarProps {
  jobs: readonly Job[];
  busy: boolean;
  approve: () => void;
  reject: () => void;
}

/** Actions for the selected jobs. */
function SelectionBar({ jobs, busy, approve, reject }: SelectionBarProps) {
  return (
    <Paper withBorder p="xs" radius="md" role="group" aria-label="Selected jobs">
      <Group justify="space-between">
        <Text size="sm">
          {jobs.length} selected, {formatCount(jobs.reduce((sum, { cost }) => sum + cost, 0))}{' '}
          credits
        </Text>
        <Group gap="xs">
          <CallButton
            call={OperatorService.method.approveJob}
            size="xs"
            loading={busy}
            icon={IconCheck}
            onClick={approve}
          >
            Approve {jobs.length}
          </CallButton>
          <CallButton
            call={OperatorService.method.rejectJob}
            size="xs"
            variant="default"
            disabled={busy}
            icon={IconX}
            onClick={reject}
          >
            Reject {jobs.length}
          </CallButton>
        </Group>
      </Group>
    </Paper>
  );
}

/** Drawer with the units of a job; null closes it. */
function UnitsDrawer({ job, close }: { job: Job | null; close: () => void }) {
  // Keeps the content visible while the drawer closes.
  const last = useRef(job);
  if (job) last.current = job;
  const displayedJob = job ?? last.current;
  return (
    <Drawer
      opened={job !== null}
      onClose={close}
      position="right"
      size="xl"
      title={displayedJob ? `${jobTitle(displayedJob)}, by ${displayedJob.userName}` : ''}
    >
      {displayedJob && <UnitsTable jobId={displayedJob.jobId} inputs />}
    </Drawer>
  );
}

function rejectionText(count: number): string {
  const jobs = count === 1 ? 'It' : 'They';
  return `${jobs} will not run and nothing is charged. The user sees the reason.`;
}
