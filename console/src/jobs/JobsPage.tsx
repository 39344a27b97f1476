import { Button } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Link, useSearchParams } from 'react-router';
import { Page } from '../layout/Page.tsx';
import { useSession } from '../session/session.ts';
import { JobFilters } from './JobFilters.tsx';
import { JobsTable } from './JobsTable.tsx';
import { type JobFilter, noFilter, useJobs } from './useJobs.ts';

const names = Object.keys(noFilter) as (keyof JobFilter)[];

/** All jobs that the caller may see, with filters that the address keeps. */
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
  const nothing = filtered
    ? { title: 'No job is like that', about: 'Choose another filter, or show all.' }
    : role === 'operator'
      ? { title: 'No jobs yet', about: 'They turn up here as users submit them.' }
      : {
          title: 'No jobs yet',
          about: 'Submit the first one by form or with a CSV file.',
          action: (
            <Button component={Link} to="/submit">
              Submit
            </Button>
          ),
        };
  return (
    <Page
      title="Jobs"
      actions={
        role === 'user' ? (
          <Button component={Link} to="/submit">
            Submit
          </Button>
        ) : undefined
      }
    >
      <JobFilters filter={filter} change={change} search={role === 'operator'} />
      <JobsTable jobs={jobs} query={query} owners={role === 'operator'} empty={nothing} />
    </Page>
  );
}
