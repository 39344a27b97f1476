import { useQuery } from '@connectrpc/connect-query';
import { useDebouncedValue } from '@mantine/hooks';
import { createSpotlight, Spotlight, type SpotlightActionGroupData } from '@mantine/spotlight';
import { IconListDetails, IconSearch, IconSend, IconUser } from '@tabler/icons-react';
import { skipToken } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import type { Job } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../../gen/gleaner/operator/v1/operator_pb.ts';
import { jobTypes } from '../../../../src/contract/job-types.ts';
import { jobTitle } from '../../../../src/present/job.ts';
import { jobTypeText, kindText, marketTitle } from '../../../../src/present/names.ts';
import { formatStatus } from '../../../../src/present/status.ts';
import { shortId } from '../../../../src/present/text.ts';
import { emptyFilter, useJobs } from '../../ui/jobs/useJobs.ts';
import { useSession } from '../../ui/session/session.ts';
import { matches } from './matches.ts';
import { pageEntries } from './page-entries.ts';

/** Maximum results of each group. */
const maxResults = 6;

const [store, spotlight] = createSpotlight();

/** Opens the search. */
export const openSearch = spotlight.open;

/** Search over jobs, users and pages. Mounted when it is opened for the first time. */
export function Search() {
  const [isOpen, setOpen] = useState(true);
  const [query, setQuery] = useState('');
  const [term] = useDebouncedValue(query.trim(), 200);
  const results = useResults(query.trim(), term, isOpen);
  useFirstSelected(query);
  return (
    <Spotlight
      store={store}
      actions={results}
      // The results match already; those of the service may match by an address.
      filter={(_query, actions) => actions}
      query={query}
      onQueryChange={setQuery}
      onSpotlightOpen={() => setOpen(true)}
      onSpotlightClose={() => setOpen(false)}
      nothingFound="No matching jobs, users, or pages"
      searchProps={{
        placeholder: 'Search jobs, users, and pages',
        'aria-label': 'Search',
        leftSection: <IconSearch size={18} aria-hidden />,
      }}
      attributes={{ content: { 'aria-label': 'Search' } }}
      scrollable
      maxHeight={420}
      tagsToIgnore={[]}
    />
  );
}

/**
 * Selects the first result, which Enter opens, whenever the text changes or the selected result
 * disappears.
 */
// The component selects a result before those of the new text are rendered.
function useFirstSelected(query: string): void {
  const shownQuery = useRef<string | null>(null);
  useEffect(() => {
    const first = document.querySelector('[data-action]');
    const selected = document.querySelector('[data-action][data-selected]');
    if (first === null || (selected && shownQuery.current === query)) return;
    shownQuery.current = query;
    selected?.removeAttribute('data-selected');
    first.setAttribute('data-selected', 'true');
    store.updateState((state) => ({ ...state, selected: 0 }));
  });
}

/** Returns whether the kind, the marketplace, the state, or the id of a job matches a term. */
const isMatch = (term: string, { jobId, taskId, kind, market, status }: Job): boolean =>
  matches(
    term,
    `${kindText(kind)} ${marketTitle(market)} ${formatStatus(status)} ${jobId} ${taskId ?? ''}`,
  );

/**
 * Returns the groups of results for a text; without a text, the pages. `term` is the text after a
 * pause, for which the service is asked.
 */
function useResults(text: string, term: string, isOpen: boolean): SpotlightActionGroupData[] {
  const { role } = useSession();
  const navigate = useNavigate();
  const action = (to: string, label: string, description?: string) => ({
    id: to,
    label,
    ...(description === undefined ? {} : { description }),
    onClick: () => void navigate(to),
  });
  const isOperator = role === 'operator';
  const enabled = isOpen && term !== '';
  const { jobs: found } = useJobs({ ...emptyFilter, search: term }, maxResults, { enabled });
  // The service searches the names of a user's jobs. The kinds and states of the latest ones are
  // searched here.
  const { jobs: latest } = useJobs(emptyFilter, 100, { enabled: enabled && !isOperator });
  const jobs = [...found, ...latest.filter((job) => isMatch(term, job))];
  const users = useQuery(
    OperatorService.method.listUsers,
    isOpen && isOperator && term !== '' ? { search: term, pageSize: maxResults } : skipToken,
  ).data?.users;
  const pages = pageEntries[role].filter(({ label }) => matches(text, label));
  const submits = isOperator
    ? []
    : jobTypes.filter(
        ({ market, kind }) =>
          text !== '' && matches(text, `Submit ${kindText(kind)} ${marketTitle(market)}`),
      );
  const groups: SpotlightActionGroupData[] = [
    {
      group: 'Pages',
      actions: pages.map(({ to, label, Icon }) => ({
        ...action(to, label),
        leftSection: <Icon size={18} aria-hidden />,
      })),
    },
    {
      group: 'Jobs',
      actions: (text === '' || term === ''
        ? []
        : [...new Map(jobs.map((job) => [job.jobId, job])).values()]
      )
        .slice(0, maxResults)
        .map((job) => ({
          ...action(
            `/jobs/${job.jobId}`,
            jobTitle(job),
            [formatStatus(job.status), job.userName, shortId(job.jobId)]
              .filter(Boolean)
              .join(' · '),
          ),
          leftSection: <IconListDetails size={18} aria-hidden />,
        })),
    },
    {
      group: 'Users',
      actions: (users ?? []).map(({ id, name, email }) => ({
        ...action(`/users/${id}`, name, email),
        leftSection: <IconUser size={18} aria-hidden />,
      })),
    },
    {
      group: 'Submit',
      actions: submits.slice(0, maxResults).map(({ market, kind }) => ({
        ...action(`/submit/${market}/${kind}`, jobTypeText({ kind, market })),
        leftSection: <IconSend size={18} aria-hidden />,
      })),
    },
  ];
  return groups.filter(({ actions }) => actions.length > 0);
}
