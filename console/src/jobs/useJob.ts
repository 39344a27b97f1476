import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { pollMs } from '../app/queries.ts';
import { useRefresh } from '../list/useRefresh.ts';
import { useSession } from '../session/session.ts';

const pollInterval = (job: Job | undefined) => (job?.ended ? pollMs.idle : pollMs.active);

/** Loads a job and polls it until it ends. Operators can load any job, users only their own. */
export function useJob(jobId: string) {
  const { role } = useSession();
  const operatorQuery = useQuery(OperatorService.method.getJob, role === 'operator' ? { jobId } : skipToken, {
    refetchInterval: ({ state }) => pollInterval(state.data?.job),
  });
  const userQuery = useQuery(JobService.method.getJob, role === 'user' ? { jobId } : skipToken, {
    refetchInterval: ({ state }) => pollInterval(state.data),
  });
  const { error, isPending, refetch } = role === 'operator' ? operatorQuery : userQuery;
  const job = role === 'operator' ? operatorQuery.data?.job : userQuery.data;
  useFinalData(job);
  return { job, error, isPending, refetch };
}

/** Reloads the data on screen when the job ends: polling ends with it, and the last poll may have been before the end. */
function useFinalData(job: Job | undefined): void {
  const refresh = useRefresh();
  const running = useRef('');
  useEffect(() => {
    if (!job) return;
    if (job.ended && running.current === job.jobId) void refresh();
    running.current = job.ended ? '' : job.jobId;
  }, [job, refresh]);
}
