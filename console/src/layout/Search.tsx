import { useQuery } from '@connectrpc/connect-query';
import { ActionIcon, Button, Kbd } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, type SpotlightActionGroupData, spotlight } from '@mantine/spotlight';
import { IconListDetails, IconSearch, IconSend, IconUser } from '@tabler/icons-react';
import { skipToken } from '@tanstack/react-query';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { formatStatus } from '../jobs/status.ts';
import { emptyFilter, useJobs } from '../jobs/useJobs.ts';
import { kindText, marketText, offers } from '../offers/offers.ts';
import { useSession } from '../session/session.ts';
import { matches } from './matches.ts';
import { pageEntries } from './page-entries.ts';

/** Maximum results of each group. */
const maxResults = 6;

/** Button that opens the search over jobs, users and pages, also with Ctrl+K. */
export function SearchButton() {
  const open = () => spotlight.open();
  return (
    <>
      <Button
        visibleFrom="sm"
        variant="default"
        leftSection={<IconSearch size={16} aria-hidden />}
        rightSection={
          <Kbd size="xs" aria-hidden>
            Ctrl K
          </Kbd>
        }
        onClick={open}
        aria-keyshortcuts="Control+K"
      >
        Search
      </Button>
      <ActionIcon hiddenFrom="sm" variant="default" size="lg" aria-label="Search" onClick={open}>
        <IconSearch size={18} aria-hidden />
      </ActionIcon>
      <Search />
    </>
  );
}

function Search() {
  const [isOpen, setOpen] = useState(false);
  const [query, setQuery] = useState('');
  const [term] = useDebouncedValue(query.trim(), 200);
  const results = useResults(term, isOpen);
  return (
    <Spotlight
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

/** Returns the groups of results for a term; without a term, the pages. */
function useResults(term: string, isOpen: boolean): SpotlightActionGroupData[] {
  const { role } = useSession();
  const navigate = useNavigate();
  const action = (to: string, label: string, description?: string) => ({
    id: to,
    label,
    ...(description === undefined ? {} : { description }),
    onClick: () => void navigate(to),
  });
  const isOperator = role === 'operator';
  // Users have no search on the service: their latest jobs are searched here.
  const { jobs } = useJobs(
    { ...emptyFilter, search: isOperator ? term : '' },
    isOperator ? maxResults : 100,
    {
      enabled: isOpen && term !== '',
    },
  );
  const users = useQuery(
    OperatorService.method.listUsers,
    isOpen && isOperator && term !== '' ? { search: term, pageSize: maxResults } : skipToken,
  ).data?.users;
  const pages = pageEntries[role].filter(({ label }) => matches(term, label));
  const submits = isOperator
    ? []
    : offers.filter(
        ({ market, kind }) => term !== '' && matches(term, `Submit ${kindText(kind)} ${marketText(market)}`),
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
      actions: (term === '' ? [] : jobs)
        .filter(
          ({ jobId, taskId, kind, market, status }) =>
            isOperator ||
            matches(
              term,
              `${kindText(kind)} ${marketText(market)} ${formatStatus(status)} ${jobId} ${taskId ?? ''}`,
            ),
        )
        .slice(0, maxResults)
        .map(({ jobId, kind, market, status, userName }) => ({
          ...action(
            `/jobs/${jobId}`,
            `${kindText(kind)} on ${marketText(market)}`,
            [formatStatus(status), userName, jobId.slice(0, 8)].filter(Boolean).join(' · '),
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
        ...action(`/submit/${market}/${kind}`, `${kindText(kind)} on ${marketText(market)}`),
        leftSection: <IconSend size={18} aria-hidden />,
      })),
    },
  ];
  return groups.filter(({ actions }) => actions.length > 0);
}
