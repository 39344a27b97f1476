import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { pollMs } from '../app/queries.ts';
import { useSession } from '../session/session.ts';

const maxCount = 100;

/** Returns the number of jobs awaiting approval, for operators: "3", "99+", or "" for none. */
export function usePendingCount(): string {
  const { role } = useSession();
  const { data } = useQuery(
    OperatorService.method.listJobs,
    role === 'operator' ? { status: 'awaiting_approval', pageSize: maxCount } : skipToken,
    { refetchInterval: pollMs.list },
  );
  const count = data?.jobs.length ?? 0;
  return count === 0 ? '' : count === maxCount ? `${maxCount - 1}+` : String(count);
}
