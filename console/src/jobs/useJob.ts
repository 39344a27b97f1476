import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { every } from '../app/queries.ts';
import { useSession } from '../session/session.ts';

const pace = (job: Job | undefined) => (job?.ended ? every.resting : every.running);

/** One job, followed while it lives: any for operators, their own for users. */
export function useJob(jobId: string) {
  const { role } = useSession();
  const any = useQuery(OperatorService.method.getJob, role === 'operator' ? { jobId } : skipToken, {
    refetchInterval: ({ state }) => pace(state.data?.job),
  });
  const own = useQuery(JobService.method.getJob, role === 'user' ? { jobId } : skipToken, {
    refetchInterval: ({ state }) => pace(state.data),
  });
  const { error, isPending, refetch } = role === 'operator' ? any : own;
  return { job: role === 'operator' ? any.data?.job : own.data, error, isPending, refetch };
}
