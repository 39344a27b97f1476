import { Badge, NavLink } from '@mantine/core';
import {
  type Icon,
  IconBell,
  IconChecklist,
  IconCoins,
  IconHome,
  IconKey,
  IconListDetails,
  IconPlugConnected,
  IconSend,
  IconServerCog,
  IconSettings,
  IconUserShield,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react';
import { Link, useLocation } from 'react-router';
import { usePendingCount } from '../approvals/usePendingCount.ts';
import { type Role, useSession } from '../session/session.ts';

interface Entry {
  to: string;
  label: string;
  Icon: Icon;
}

const entries: Record<Role, Entry[]> = {
  operator: [
    { to: '/approvals', label: 'Approvals', Icon: IconChecklist },
    { to: '/jobs', label: 'Jobs', Icon: IconListDetails },
    { to: '/users', label: 'Users', Icon: IconUsers },
    { to: '/operators', label: 'Operators', Icon: IconUserShield },
    { to: '/ledger', label: 'Ledger', Icon: IconCoins },
    { to: '/origins', label: 'Origins', Icon: IconPlugConnected },
    { to: '/work', label: 'Queues and workers', Icon: IconServerCog },
    { to: '/deliveries', label: 'Notifications', Icon: IconBell },
    { to: '/settings', label: 'Settings', Icon: IconSettings },
  ],
  user: [
    { to: '/', label: 'Account', Icon: IconHome },
    { to: '/submit', label: 'Submit', Icon: IconSend },
    { to: '/jobs', label: 'Jobs', Icon: IconListDetails },
    { to: '/ledger', label: 'Ledger', Icon: IconCoins },
    { to: '/keys', label: 'API keys', Icon: IconKey },
    { to: '/webhook', label: 'Webhook', Icon: IconWebhook },
  ],
};

/** Links to the pages of the role, with the number of jobs awaiting approval. */
export function Navigation() {
  const { role } = useSession();
  const { pathname } = useLocation();
  const pending = usePendingCount();
  const first = entries[role][0]!.to;
  const active = (to: string) =>
    to === '/' ? pathname === '/' : pathname.startsWith(to) || (pathname === '/' && to === first);
  return entries[role].map(({ to, label, Icon }) => (
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
