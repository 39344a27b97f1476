import {
  type Icon,
  IconBell,
  IconBellRinging,
  IconCalendarRepeat,
  IconChartLine,
  IconChecklist,
  IconCoins,
  IconDatabaseExport,
  IconFlask,
  IconHistory,
  IconHome,
  IconKey,
  IconListDetails,
  IconPlugConnected,
  IconSend,
  IconServerCog,
  IconSettings,
  IconTag,
  IconUserShield,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react';
import type { AccountRole } from '../../ui/session/session.ts';

/** Page in the navigation. */
export interface PageEntry {
  to: string;
  label: string;
  Icon: Icon;
  /** Heading above the page and the pages below it. */
  heading?: string;
}

/** Pages of each role, in the order of the navigation. */
export const pageEntries: Record<AccountRole, PageEntry[]> = {
  operator: [
    { to: '/', label: 'Overview', Icon: IconHome },
    { to: '/approvals', label: 'Approvals', Icon: IconChecklist },
    { to: '/jobs', label: 'Jobs', Icon: IconListDetails },
    { to: '/users', label: 'Users', Icon: IconUsers, heading: 'Accounts' },
    { to: '/operators', label: 'Operators', Icon: IconUserShield },
    { to: '/ledger', label: 'Ledger', Icon: IconCoins },
    { to: '/origins', label: 'Origins', Icon: IconPlugConnected, heading: 'Service' },
    { to: '/work', label: 'Queues and workers', Icon: IconServerCog },
    { to: '/deliveries', label: 'Notifications', Icon: IconBell },
    { to: '/audit', label: 'Audit log', Icon: IconHistory },
    { to: '/settings', label: 'Settings', Icon: IconSettings },
  ],
  user: [
    { to: '/', label: 'Overview', Icon: IconHome },
    { to: '/submit', label: 'Submit', Icon: IconSend },
    { to: '/try', label: 'Try it', Icon: IconFlask },
    { to: '/jobs', label: 'Jobs', Icon: IconListDetails },
    { to: '/schedules', label: 'Schedules', Icon: IconCalendarRepeat },
    { to: '/history', label: 'History', Icon: IconChartLine, heading: 'Tracked items' },
    { to: '/rules', label: 'Rules', Icon: IconBellRinging },
    { to: '/destinations', label: 'Destinations', Icon: IconDatabaseExport, heading: 'Delivery' },
    { to: '/webhook', label: 'Webhook', Icon: IconWebhook },
    { to: '/prices', label: 'Prices', Icon: IconTag, heading: 'Account' },
    { to: '/ledger', label: 'Ledger', Icon: IconCoins },
    { to: '/keys', label: 'API keys', Icon: IconKey },
  ],
};
