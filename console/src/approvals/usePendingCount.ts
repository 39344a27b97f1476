import { useQuery } from '@connectrpc/connect-query';
import { skipToken } from '@tanstack/react-query';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { every } from '../app/queries.ts';
import { useSession } from '../session/session.ts';

const most = 100;

/** How many jobs wait for approval, for operators: "3", "99+"; "" for none. */
export function useWaiting(): string {
  const { role } = useSession();
  const { data } = useQuery(
    OperatorService.method.listJobs,
    role === 'operator' ? { status: 'awaiting_approval', pageSize: most } : skipToken,
    { refetchInterval: every.watching },
  );
  const count = data?.jobs.length ?? 0;
  return count === 0 ? '' : count === most ? `${most - 1}+` : String(count);
}
