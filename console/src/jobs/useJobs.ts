import { useInfiniteQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { pollMs } from '../app/queries.ts';
import { useSession } from '../session/session.ts';

/** Filters of a job list; '' matches all. */
export interface JobFilter {
  status: string;
  kind: string;
  market: string;
  /** For operators only. */
  search: string;
  /** For operators only. */
  userId: string;
  /** `test` for jobs of test accounts, else live ones. For operators only. */
  mode: string;
}

/** Filter that matches every job. */
export const emptyFilter: JobFilter = {
  status: '',
  kind: '',
  market: '',
  search: '',
  userId: '',
  mode: '',
};

const nextPageParam = ({ nextPageToken }: { nextPageToken: string }) => nextPageToken || undefined;

/** Lists and polls jobs, newest first: of all users for operators, their own for users. */
export function useJobs(filter: JobFilter, pageSize = 50, { enabled = true } = {}) {
  const { role } = useSession();
  const { status, kind, market } = filter;
  const options = {
    pageParamKey: 'pageToken',
    getNextPageParam: nextPageParam,
    refetchInterval: pollMs.list,
  } as const;
  const operatorQuery = useInfiniteQuery(
    OperatorService.method.listJobs,
    enabled && role === 'operator' ? { ...filter, pageSize, pageToken: '' } : skipToken,
    options,
  );
  const userQuery = useInfiniteQuery(
    JobService.method.listJobs,
    enabled && role === 'user' ? { status, kind, market, pageSize, pageToken: '' } : skipToken,
    options,
  );
  const query = role === 'operator' ? operatorQuery : userQuery;
  const pages: { jobs: Job[] }[] | undefined =
    role === 'operator' ? operatorQuery.data?.pages : userQuery.data?.pages;
  return { query, jobs: pages?.flatMap(({ jobs }) => jobs) ?? [] };
}
