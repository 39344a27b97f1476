import { Anchor, Stack, Text } from '@mantine/core';
import { Link } from 'react-router';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { type Column, type ListQuery, ListTable } from '../list/ListTable.tsx';
import { countText } from '../number/text.ts';
import { kindText, marketText } from '../offers/offers.ts';
import { Moment } from '../time/Moment.tsx';
import { JobProgress } from './JobProgress.tsx';
import { StatusBadge } from './StatusBadge.tsx';

/** What a job is: its kind, with a link to its page, and its marketplace. */
export function JobName({ job }: { job: Job }) {
  return (
    <Stack gap={0}>
      <Anchor component={Link} to={`/jobs/${job.jobId}`} fw={500} size="sm">
        {kindText(job.kind)}
      </Anchor>
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

const owner: Column<Job> = {
  title: 'User',
  cell: (job) => (
    <Anchor component={Link} to={`/users/${job.userId}`} size="sm">
      {job.userName || job.userId.slice(0, 8)}
    </Anchor>
  ),
};

const columns: Column<Job>[] = [
  { title: 'Job', cell: (job) => <JobName job={job} /> },
  { title: 'Status', cell: (job) => <StatusBadge status={job.status} /> },
  { title: 'Progress', cell: (job) => <JobProgress job={job} size="sm" /> },
  { title: 'Credits', align: 'right', cell: (job) => countText(job.cost - job.refunded) },
  { title: 'Submitted', cell: (job) => <Moment at={job.createdAt} relative /> },
];

interface JobsTableProps {
  jobs: readonly Job[];
  query: ListQuery;
  owners: boolean;
  empty: { title: string; about?: string; action?: React.ReactNode };
}

/** Jobs with their progress; with `owners`, whose they are. */
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
