import { Button } from '@mantine/core';
import { Link } from 'react-router';
import { JobsTable } from '../ui/jobs/JobsTable.tsx';
import { emptyFilter, useJobs } from '../ui/jobs/useJobs.ts';
import { Page } from '../ui/layout/Page.tsx';
import { useAddressFilter } from '../ui/list/useList.ts';
import { useSession } from '../ui/session/session.ts';
import { JobFilters } from './JobFilters.tsx';

const noMatchingJobs = { title: 'No matching jobs', description: 'Change or clear the filters.' };
const noJobsOfUsers = {
  title: 'No jobs yet',
  description: 'Jobs appear here when users submit them.',
};
const noOwnJobs = {
  title: 'No jobs yet',
  description: 'Submit your first job with the form or a CSV file.',
  action: (
    <Button component={Link} to="/submit">
      Submit a job
    </Button>
  ),
};

/** Jobs visible to the caller, with filters kept in the address. */
export function JobsPage() {
  const { role } = useSession();
  const [filter, change] = useAddressFilter(emptyFilter);
  const { jobs, query } = useJobs(filter);
  const filtered = Object.values(filter).some((value) => value !== '');
  const none = role === 'operator' ? noJobsOfUsers : noOwnJobs;
  const empty = filtered ? noMatchingJobs : none;
  return (
    <Page
      title="Jobs"
      actions={
        role === 'user' ? (
          <Button component={Link} to="/submit">
            Submit a job
          </Button>
        ) : undefined
      }
    >
      <JobFilters filter={filter} change={change} operator={role === 'operator'} />
      <JobsTable jobs={jobs} query={query} owners={role === 'operator'} empty={empty} />
    </Page>
  );
}
