import { useQuery } from '@connectrpc/connect-query';
import type { SpotlightActionData, SpotlightActionGroupData } from '@mantine/spotlight';
import { type Icon, IconBook, IconListDetails, IconSend, IconUser } from '@tabler/icons-react';
import { skipToken, useQuery as useRestQuery } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import type { Job } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../../gen/gleaner/operator/v1/operator_pb.ts';
import { jobTypes } from '../../../../src/contract/job-types.ts';
import { jobTitle } from '../../../../src/present/job.ts';
import { jobTypeText, kindText, marketTitle } from '../../../../src/present/names.ts';
import { formatJobStatus, formatStatus } from '../../../../src/present/status.ts';
import { shortId } from '../../../../src/present/text.ts';
import { emptyFilter, useJobs } from '../../ui/jobs/useJobs.ts';
import { basePath } from '../../ui/session/base-path.ts';
import { fetchRest } from '../../ui/session/rest.ts';
import { useSession } from '../../ui/session/session.ts';
import { findSections, type IndexedSection } from './guide-sections.ts';
import { matches } from './matches.ts';
import { pageEntries } from './page-entries.ts';

/** Maximum results of each group. */
const maxResults = 6;

/** A result of the search. */
interface Result {
  /** Path below the console, or, of the documentation, of the service. */
  to: string;
  label: string;
  description?: string;
  Icon: Icon;
}

/** Returns whether the kind, the marketplace, the state, or the id of a job matches a term. */
const isMatch = (term: string, { jobId, taskId, kind, market, status }: Job): boolean =>
  matches(
    term,
    `${kindText(kind)} ${marketTitle(market)} ${formatStatus(status)} ${jobId} ${taskId ?? ''}`,
  );

/** Searches jobs once `isEnabled`. */
function useJobResults(term: string, isEnabled: boolean): Result[] {
  const isUser = useSession().role === 'user';
  const options = { enabled: isEnabled };
  const { jobs: namedJobs } = useJobs({ ...emptyFilter, search: term }, maxResults, options);
  // The service searches the names of a user's jobs. The kinds and states of the latest ones are
  // searched here.
  const { jobs: latestJobs } = useJobs(emptyFilter, 100, { enabled: isEnabled && isUser });
  if (!isEnabled) return [];
  const matchingJobs = latestJobs.filter((job) => isMatch(term, job));
  const jobsById = new Map([...namedJobs, ...matchingJobs].map((job) => [job.jobId, job]));
  return Array.from(jobsById.values(), (job) => ({
    to: `/jobs/${job.jobId}`,
    label: jobTitle(job),
    description: [formatJobStatus(job), job.userName, shortId(job.jobId)]
      .filter(Boolean)
      .join(' · '),
    Icon: IconListDetails,
  }));
}

/** Searches users, for an operator, once `isEnabled`. */
function useUserResults(term: string, isEnabled: boolean): Result[] {
  const isOperator = useSession().role === 'operator';
  const { data } = useQuery(
    OperatorService.method.listUsers,
    isEnabled && isOperator ? { search: term, pageSize: maxResults } : skipToken,
  );
  return (data?.users ?? []).map(({ id, name, email }) => ({
    to: `/users/${id}`,
    label: name,
    description: email,
    Icon: IconUser,
  }));
}

/** Returns the kinds of jobs that a user can submit and whose names match a text. */
const submitResults = (text: string): Result[] =>
  jobTypes
    .filter(({ market, kind }) => matches(text, `Submit ${kindText(kind)} ${marketTitle(market)}`))
    .map(({ market, kind }) => ({
      to: `/submit/${market}/${kind}`,
      label: jobTypeText({ kind, market }),
      Icon: IconSend,
    }));

/** Searches the user documentation, whose sections are loaded with the first search. */
function useGuideResults(text: string): Result[] {
  const { data } = useRestQuery({
    queryKey: ['guide'],
    queryFn: async () => {
      const response = await fetchRest(`${basePath}/docs/guide/search.json`);
      return (await response.json()) as IndexedSection[];
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (data === undefined || text === '') return [];
  return findSections(data, text, maxResults).map(({ title, page, path }) => ({
    to: path,
    label: title,
    description: title === page ? 'Documentation' : page,
    Icon: IconBook,
  }));
}

/**
 * Returns the groups of results for a text; without a text, the pages. `term` is the text after a
 * pause, for which the service is asked.
 */
export function useResults(
  text: string,
  term: string,
  isOpen: boolean,
): SpotlightActionGroupData[] {
  const { role } = useSession();
  const navigate = useNavigate();
  const isSearched = isOpen && text !== '' && term !== '';
  const jobs = useJobResults(term, isSearched);
  const users = useUserResults(term, isSearched);
  const guide = useGuideResults(text);
  const pages = pageEntries[role].filter(({ label }) => matches(text, label));
  const submits = role === 'user' && text !== '' ? submitResults(text) : [];
  const actionsOf = (
    results: readonly Result[],
    open: (to: string) => unknown,
  ): SpotlightActionData[] =>
    results.map(({ to, label, description = '', Icon }) => ({
      id: to,
      label,
      description,
      leftSection: <Icon size={18} aria-hidden />,
      onClick: () => void open(to),
    }));
  const groups: SpotlightActionGroupData[] = [
    { group: 'Pages', actions: actionsOf(pages, navigate) },
    { group: 'Jobs', actions: actionsOf(jobs.slice(0, maxResults), navigate) },
    { group: 'Users', actions: actionsOf(users, navigate) },
    { group: 'Submit', actions: actionsOf(submits.slice(0, maxResults), navigate) },
    { group: 'Documentation', actions: actionsOf(guide, (to) => location.assign(to)) },
  ];
  return groups.filter(({ actions }) => actions.length > 0);
}
