import type { Job } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { Section } from '../layout/Section.tsx';
import type { EmptyList, ListQuery } from '../list/ListTable.tsx';
import { TextLink } from '../TextLink.tsx';
import { JobsTable } from './JobsTable.tsx';

interface LatestJobsProps {
  title: string;
  jobs: readonly Job[];
  query: ListQuery;
  owners: boolean;
  /** Path and label of the page with all of them. */
  all?: readonly [path: string, label: string];
  empty?: EmptyList;
  /** Maximum jobs shown. */
  maxJobs?: number;
}

/** Shows the first jobs of a list, with a link to the others. */
export function LatestJobs({
  title,
  jobs,
  query,
  owners,
  all: [to, label] = ['/jobs', 'All jobs'],
  empty = { title: 'None' },
  maxJobs = 5,
}: LatestJobsProps) {
  return (
    <Section title={title} actions={<TextLink to={to}>{label}</TextLink>}>
      <JobsTable
        label={title}
        jobs={jobs.slice(0, maxJobs)}
        query={{ ...query, hasNextPage: false }}
        owners={owners}
        empty={empty}
      />
    </Section>
  );
}
