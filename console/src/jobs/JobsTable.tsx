import { Anchor, Group, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { TestBadge } from '../layout/TestBadge.tsx';
import { type EmptyList, type ListQuery, ListTable } from '../list/ListTable.tsx';
import type { Column } from '../list/list-content.ts';
import { formatCount } from '../number/format.ts';
import { kindText, marketText } from '../offers/offers.ts';
import { Moment } from '../time/Moment.tsx';
import { JobProgress } from './JobProgress.tsx';
import { StatusBadge } from './StatusBadge.tsx';

/** Kind of a job, linked to its page, with marketplace and id. */
export function JobName({ job }: { job: Job }) {
  return (
    <Stack gap={0}>
      <Group gap={6} wrap="nowrap">
        <Anchor component={Link} to={`/jobs/${job.jobId}`} fw={500} size="sm">
          {kindText(job.kind)}
        </Anchor>
        {job.mode === 'test' && <TestBadge />}
      </Group>
      <Text size="xs" c="dimmed">
        {[
          marketText(job.market),
          job.region,
          job.taskId === undefined ? job.jobId.slice(0, 8) : `task ${job.taskId}`,
        ]
          .filter(Boolean)
          .join(' · ')}
      </Text>
    </Stack>
  );
}

/** Credits charged, less refunds; before the charge, the cost. */
function Credits({ job: { cost, charged, refunded, ended } }: { job: Job }) {
  if (ended || charged > 0) return formatCount(charged - refunded);
  return (
    <>
      {formatCount(cost)}
      <Text size="xs" c="dimmed">
        On approval
      </Text>
    </>
  );
}

const owner: Column<Job> = {
  title: 'User',
  cell: (job) => (
    <Anchor component={Link} to={`/users/${job.userId}`} size="sm">
      {job.userName || job.userId.slice(0, 8)}
    </Anchor>
  ),
  sortBy: ({ userName, userId }) => userName || userId,
};

const columns: Column<Job>[] = [
  {
    title: 'Job',
    cell: (job) => <JobName job={job} />,
    sortBy: ({ kind, market }) => `${kindText(kind)} ${market}`,
  },
  { title: 'Status', cell: (job) => <StatusBadge status={job.status} />, sortBy: ({ status }) => status },
  {
    title: 'Progress',
    cell: (job) => <JobProgress job={job} size="sm" />,
    sortBy: ({ success, failed, total }) => (success + failed) / Math.max(1, total),
  },
  {
    title: 'Credits',
    align: 'right',
    cell: (job) => <Credits job={job} />,
    sortBy: ({ cost, charged, refunded, ended }) => (ended || charged > 0 ? charged - refunded : cost),
  },
  {
    title: 'Submitted',
    cell: (job) => <Moment at={job.createdAt} relative />,
    sortBy: ({ createdAt }) => createdAt?.seconds,
  },
];

interface JobsTableProps {
  jobs: readonly Job[];
  query: ListQuery;
  owners: boolean;
  empty: EmptyList;
}

/** Jobs with their progress, and their owners if `owners` is set. */
export function JobsTable({ jobs, query, owners, empty }: JobsTableProps) {
  return (
    <ListTable
      label="Jobs"
      rows={jobs}
      keyOf={({ jobId }) => jobId}
      query={query}
      columns={owners ? columns.toSpliced(1, 0, owner) : columns}
      empty={empty}
    />
  );
}
