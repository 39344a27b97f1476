import { skipToken } from '@tanstack/react-query';
import { JobService } from '../../../../gen/gleaner/job/v1/job_pb.ts';
import { useList } from '../list/useList.ts';
import { useSession } from '../session/session.ts';

/** Filters of a job list; '' matches all. */
export interface JobListFilter {
  status: string;
  kind: string;
  market: string;
  /** Job ID, task ID, or text: in the names of jobs for users, in those of owners for operators. */
  search: string;
  /** For operators only. */
  userId: string;
  /** `test` for jobs of test accounts, else live ones. For operators only. */
  mode: string;
}

/** Filter that matches every job. */
export const emptyFilter: JobListFilter = {
  status: '',
  kind: '',
  market: '',
  search: '',
  userId: '',
  mode: '',
};

/** Lists and polls jobs, newest first: of all users for operators, their own for users. */
export function useJobs(filter: JobListFilter, pageSize = 50, { enabled = true } = {}) {
  const { role } = useSession();
  const { status, kind, market, search } = filter;
  const request =
    role === 'operator'
      ? filter
      : {
          status,
          kind,
          market,
          search,
        };
  const { query, rows } = useList(
    JobService.method.listJobs,
    enabled ? { ...request, pageSize } : skipToken,
    (page) => page.jobs,
  );
  return { query, jobs: rows };
}

/** Largest number of jobs that is counted. */
export const maxPending = 100;

/**
 * Formats the number of listed jobs: "3", or "99+" if there may be more; undefined until they are
 * loaded.
 */
export const pendingText = ({ jobs, query }: ReturnType<typeof useJobs>): string | undefined => {
  if (query.data === undefined) return undefined;
  if (jobs.length >= maxPending) return `${maxPending - 1}+`;
  return String(jobs.length);
};

/** Lists the jobs awaiting approval, for operators: one query for all that show or count them. */
export const usePending = () =>
  useJobs({ ...emptyFilter, status: 'awaiting_approval' }, maxPending, {
    enabled: useSession().role === 'operator',
  });
