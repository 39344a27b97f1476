import { Badge, NavLink } from '@mantine/core';
import { Link, useLocation } from 'react-router';
import { pendingText, usePending } from '../../ui/jobs/useJobs.ts';
import { useSession } from '../../ui/session/session.ts';
import { pageEntries } from './page-entries.ts';

/** Links to the pages of the role, with the number of jobs awaiting approval. */
export function Navigation() {
  const { role } = useSession();
  const { pathname } = useLocation();
  const pending = pendingText(usePending()) ?? '0';
  const active = (to: string) => (to === '/' ? pathname === '/' : pathname.startsWith(to));
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
        to === '/approvals' && pending !== '0' ? (
          <Badge size="sm" color="yellow" variant="light" aria-label={`${pending} awaiting approval`}>
            {pending}
          </Badge>
        ) : null
      }
    />
  ));
}
