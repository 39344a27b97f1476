import type { ComponentType } from 'react';
import { basePath } from '../ui/session/base-path.ts';
import type { AccountRole } from '../ui/session/session.ts';

export type LoadPage = () => Promise<ComponentType>;

const jobs: LoadPage = async () => (await import('../jobs/JobsPage.tsx')).JobsPage;
const job: LoadPage = async () => (await import('../jobs/JobPage.tsx')).JobPage;
const schedule: LoadPage = async () => (await import('../schedules/SchedulePage.tsx')).SchedulePage;

/**
 * Pages of each role by their path below /console, as the router reads it; '' for the start page.
 */
export const pages: Readonly<Record<AccountRole, Readonly<Record<string, LoadPage>>>> = {
  operator: {
    '': async () => (await import('../overview/OperatorOverview.tsx')).OperatorOverview,
    approvals: async () => (await import('../approvals/ApprovalsPage.tsx')).ApprovalsPage,
    jobs,
    'jobs/:jobId': job,
    'schedules/:scheduleId': schedule,
    users: async () => (await import('../users/UsersPage.tsx')).UsersPage,
    'users/:userId': async () => (await import('../users/UserPage.tsx')).UserPage,
    operators: async () => (await import('../operators/OperatorsPage.tsx')).OperatorsPage,
    ledger: async () => (await import('../ledger/LedgerPage.tsx')).AllLedgersPage,
    origins: async () => (await import('../origins/OriginsPage.tsx')).OriginsPage,
    work: async () => (await import('../work/WorkPage.tsx')).WorkPage,
    audit: async () => (await import('../audit/AuditPage.tsx')).AuditPage,
    settings: async () => (await import('../settings/SettingsPage.tsx')).SettingsPage,
    deliveries: async () => (await import('../deliveries/DeliveriesPage.tsx')).DeliveriesPage,
  },
  user: {
    '': async () => (await import('../overview/UserOverview.tsx')).UserOverview,
    jobs,
    'jobs/:jobId': job,
    submit: async () => (await import('../submit/JobTypesPage.tsx')).JobTypesPage,
    try: async () => (await import('../submit/TryPage.tsx')).TryPage,
    'submit/:market/:kind': async () => (await import('../submit/SubmitPage.tsx')).SubmitPage,
    schedules: async () => (await import('../schedules/SchedulesPage.tsx')).SchedulesPage,
    'schedules/:scheduleId': schedule,
    prices: async () => (await import('../prices/PricesPage.tsx')).PricesPage,
    ledger: async () => (await import('../ledger/LedgerPage.tsx')).LedgerPage,
    keys: async () => (await import('../keys/KeysPage.tsx')).KeysPage,
    history: async () => (await import('../history/HistoryPage.tsx')).HistoryPage,
    'history/:market/:region/:key': async () => (await import('../history/ItemPage.tsx')).ItemPage,
    rules: async () => (await import('../history/RulesPage.tsx')).RulesPage,
    destinations: async () =>
      (await import('../destinations/DestinationsPage.tsx')).DestinationsPage,
    webhook: async () => (await import('../webhook/WebhookPage.tsx')).WebhookPage,
  },
};

/** Path of the console. */
export const basename = `${basePath}/console`;

const matches = (route: string, path: string) =>
  path.startsWith(basename) &&
  new RegExp(`^/?${route.replace(/:\w+/g, '[^/]+')}/?$`).test(path.slice(basename.length));

/** Loads the code of the pages at a path, of one role or of either. */
export async function preloadPage(path: string, role?: AccountRole): Promise<void> {
  const roles = role === undefined ? (['operator', 'user'] as const) : [role];
  const found = roles.flatMap((each) =>
    Object.entries(pages[each]).filter(([route]) => matches(route, path)),
  );
  await Promise.all(found.map(([, load]) => load()));
}
