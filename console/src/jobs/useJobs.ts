import { useInfiniteQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { every } from '../app/queries.ts';
import { useSession } from '../session/session.ts';

/** Which jobs are wanted; '' for all. */
export interface JobFilter {
  status: string;
  kind: string;
  market: string;
  /** For operators only. */
  search: string;
  /** For operators only. */
  userId: string;
}

/** Every job. */
export const noFilter: JobFilter = { status: '', kind: '', market: '', search: '', userId: '' };

const next = ({ nextPageToken }: { nextPageToken: string }) => nextPageToken || undefined;

/** Jobs, newest first, followed: of all users for operators, their own for users. */
export function useJobs(filter: JobFilter, pageSize = 50) {
  const { role } = useSession();
  const { status, kind, market } = filter;
  const options = {
    pageParamKey: 'pageToken',
    getNextPageParam: next,
    refetchInterval: every.watching,
  } as const;
  const all = useInfiniteQuery(
    OperatorService.method.listJobs,
    role === 'operator' ? { ...filter, pageSize, pageToken: '' } : skipToken,
    options,
  );
  const own = useInfiniteQuery(
    JobService.method.listJobs,
    role === 'user' ? { status, kind, market, pageSize, pageToken: '' } : skipToken,
    options,
  );
  const query = role === 'operator' ? all : own;
  const pages: { jobs: Job[] }[] | undefined = role === 'operator' ? all.data?.pages : own.data?.pages;
  return { query, jobs: pages?.flatMap(({ jobs }) => jobs) ?? [] };
}
