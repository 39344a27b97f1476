import { useQuery } from '@connectrpc/connect-query';
import { Badge, NavLink } from '@mantine/core';
import { skipToken } from '@tanstack/react-query';
import { Link, useLocation } from 'react-router';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { pollMs } from '../app/queries.ts';
import { useSession } from '../session/session.ts';
import { pageEntries } from './page-entries.ts';

/** Links to the pages of the role, with the number of jobs awaiting approval. */
export function Navigation() {
  const { role } = useSession();
  const { pathname } = useLocation();
  const pending = usePendingCount();
  const first = pageEntries[role][0]!.to;
  const active = (to: string) =>
    to === '/' ? pathname === '/' : pathname.startsWith(to) || (pathname === '/' && to === first);
  return pageEntries[role].map(({ to, label, Icon }) => (
    <NavLink
      key={to}
      component={Link}
      to={to}
      label={label}
      active={active(to)}
      aria-current={active(to) ? 'page' : undefined}
      leftSection={<Icon size={18} aria-hidden />}
      rightSection={
        to === '/approvals' && pending !== '' ? (
          <Badge size="sm" color="yellow" variant="light" aria-label={`${pending} awaiting approval`}>
            {pending}
          </Badge>
        ) : null
      }
    />
  ));
}

const maxCount = 100;

/** Returns the number of jobs awaiting approval, for operators: "3", "99+", or "" for none. */
function usePendingCount(): string {
  const { role } = useSession();
  const { data } = useQuery(
    OperatorService.method.listJobs,
    role === 'operator' ? { status: 'awaiting_approval', pageSize: maxCount } : skipToken,
    { refetchInterval: pollMs.list },
  );
  const count = data?.jobs.length ?? 0;
  return count === 0 ? '' : count === maxCount ? `${maxCount - 1}+` : String(count);
}
