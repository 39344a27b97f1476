import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { pollMs } from '../app/queries.ts';
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
  return { job: role === 'operator' ? operatorQuery.data?.job : userQuery.data, error, isPending, refetch };
}
