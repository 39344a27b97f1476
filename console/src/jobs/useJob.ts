import { useQuery } from '@connectrpc/connect-query';
import { useEffect, useRef } from 'react';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { useRefresh } from '../ui/list/useRefresh.ts';
import { pollMs } from '../ui/queries.ts';

const pollInterval = (job: Job | undefined) => (job?.ended ? pollMs.idle : pollMs.active);

/** Loads a job and polls it until it ends. Operators can load any job, users only their own. */
export function useJob(jobId: string) {
  const {
    data: job,
    error,
    isPending,
    refetch,
  } = useQuery(
    JobService.method.getJob,
    { jobId },
    { refetchInterval: ({ state }) => pollInterval(state.data) },
  );
  useFinalData(job);
  return { job, error, isPending, refetch };
}

/**
 * Reloads the data on screen when the job ends: polling ends with it, and the last poll may have been before
 * the end.
 */
function useFinalData(job: Job | undefined): void {
  const refresh = useRefresh();
  const running = useRef('');
  useEffect(() => {
    if (!job) return;
    if (job.ended && running.current === job.jobId) void refresh();
    running.current = job.ended ? '' : job.jobId;
  }, [job, refresh]);
}
