import { Button } from '@mantine/core';
import { Link, useSearchParams } from 'react-router';
import { JobsTable } from '../ui/jobs/JobsTable.tsx';
import { emptyFilter, type JobListFilter, useJobs } from '../ui/jobs/useJobs.ts';
import { Page } from '../ui/layout/Page.tsx';
import { useSession } from '../ui/session/session.ts';
import { JobFilters } from './JobFilters.tsx';

const names = Object.keys(emptyFilter) as (keyof JobListFilter)[];

/** Jobs visible to the caller, with filters kept in the address. */
export function JobsPage() {
  const { role } = useSession();
  const [parameters, setParameters] = useSearchParams();
  const filter = Object.fromEntries(
    names.map((name) => [name, parameters.get(name) ?? '']),
  ) as unknown as JobListFilter;
  const { jobs, query } = useJobs(filter);
  const change = (next: JobListFilter) =>
    setParameters(Object.fromEntries(Object.entries(next).filter(([, value]) => value !== '')), {
      replace: true,
    });
  const filtered = names.some((name) => filter[name] !== '');
  const empty = filtered
    ? { title: 'No matching jobs', description: 'Change or clear the filters.' }
    : role === 'operator'
      ? { title: 'No jobs yet', description: 'Jobs appear here when users submit them.' }
      : {
          title: 'No jobs yet',
          description: 'Submit your first job with the form or a CSV file.',
          action: (
            <Button component={Link} to="/submit">
              Submit a job
            </Button>
          ),
        };
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
