import { Button } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Link, useSearchParams } from 'react-router';
import { Page } from '../layout/Page.tsx';
import { useSession } from '../session/session.ts';
import { JobFilters } from './JobFilters.tsx';
import { JobsTable } from './JobsTable.tsx';
import { emptyFilter, type JobFilter, useJobs } from './useJobs.ts';

const names = Object.keys(emptyFilter) as (keyof JobFilter)[];

/** Jobs visible to the caller, with filters kept in the address. */
export function JobsPage() {
  const { role } = useSession();
  const [parameters, setParameters] = useSearchParams();
  const filter = Object.fromEntries(
    names.map((name) => [name, parameters.get(name) ?? '']),
  ) as unknown as JobFilter;
  const [search] = useDebouncedValue(filter.search, 300);
  const { jobs, query } = useJobs({ ...filter, search });
  const change = (next: JobFilter) =>
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
