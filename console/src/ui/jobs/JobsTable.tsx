import { Group, Text } from '@mantine/core';
import type { Job } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { jobTitle } from '../../../../src/present/job.ts';
import { jobTypeText } from '../../../../src/present/names.ts';
import { counted, formatCount, regionText } from '../../../../src/present/text.ts';
import { Id } from '../Id.tsx';
import { TestBadge } from '../layout/Page.tsx';
import { type EmptyList, type ListQuery, ListTable } from '../list/ListTable.tsx';
import type { ListColumn } from '../list/list-content.ts';
import { TextLink } from '../TextLink.tsx';
import { Moment } from '../time/Moment.tsx';
import { JobProgress } from './JobProgress.tsx';
import { JobBadge } from './StatusBadge.tsx';

/** Title of a job, linked to its page, with what the title does not say. */
export function JobName({ job }: { job: Job }) {
  return (
    <>
      <TextLink to={`/jobs/${job.jobId}`} fw={500}>
        {jobTitle(job)}
      </TextLink>{' '}
      {job.mode === 'test' && <TestBadge />}{' '}
      <Text span size="xs" c="dimmed">
        {[
          job.options?.name && job.options.name !== jobTypeText(job) ? jobTypeText(job) : '',
          job.region === '' ? '' : regionText(job.region),
          job.taskId === undefined ? '' : `task ${job.taskId}`,
        ]
          .filter(Boolean)
          .join(' · ')}
      </Text>
    </>
  );
}

const creditsOf = ({ cost, charged, refunded, ended }: Job) =>
  ended || charged > 0 ? charged - refunded : cost;

/** Row of a job on a narrow screen: its title, its state and progress, its credits and its time. */
function JobBrief({ job, owners }: { job: Job; owners: boolean }) {
  return (
    <>
      <div>
        <JobName job={job} />
      </div>
      <Group gap="xs" wrap="nowrap" fz="xs">
        <JobBadge job={job} />
        <JobProgress job={job} />
      </Group>
      <Text size="xs" c="dimmed">
        {counted(creditsOf(job), 'credit')} · <Moment at={job.createdAt} relative />
      </Text>
      {owners && ownerColumn.cell(job)}
    </>
  );
}

export const ownerColumn: ListColumn<Job> = {
  title: 'User',
  cell: (job) => <Id of="users" value={job.userId} name={job.userName} />,
  sortBy: ({ userName, userId }) => userName || userId,
};

const columns: ListColumn<Job>[] = [
  {
    title: 'Job',
    maxWidth: 420,
    cell: (job) => <JobName job={job} />,
    sortBy: jobTitle,
  },
  { title: 'Status', cell: (job) => <JobBadge job={job} />, sortBy: ({ status }) => status },
  {
    title: 'Progress',
    cell: (job) => <JobProgress job={job} />,
    sortBy: ({ success, failed, total }) => (success + failed) / Math.max(1, total),
  },
  {
    title: 'Credits',
    align: 'right',
    cell: (job) => formatCount(creditsOf(job)),
    sortBy: creditsOf,
  },
  {
    title: 'Submitted',
    cell: (job) => <Moment at={job.createdAt} relative />,
    sortBy: ({ createdAt }) => createdAt?.seconds,
  },
];

interface JobsTableProps {
  label?: string;
  jobs: readonly Job[];
  query: ListQuery;
  owners: boolean;
  empty: EmptyList;
}

/** Jobs with their progress, and their owners if `owners` is set. */
export function JobsTable({ label = 'Jobs', jobs, query, owners, empty }: JobsTableProps) {
  return (
    <ListTable
      label={label}
      rows={jobs}
      keyOf={({ jobId }) => jobId}
      query={query}
      dense
      brief={(job) => <JobBrief job={job} owners={owners} />}
      columns={owners ? columns.toSpliced(1, 0, ownerColumn) : columns}
      empty={empty}
    />
  );
}
