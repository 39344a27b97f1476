import type { ComponentType } from 'react';
import { createBrowserRouter, matchRoutes, type RouteObject, useRouteError } from 'react-router';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { Loading } from '../ui/layout/Loading.tsx';
import { NotFound } from '../ui/layout/NotFound.tsx';
import { Page } from '../ui/layout/Page.tsx';
import type { AccountRole } from '../ui/session/session.ts';
import { Shell } from './shell/Shell.tsx';

/** Creates a route whose code is loaded on first use. */
const page = (load: () => Promise<ComponentType>) => async () => ({ Component: await load() });

const jobs = page(async () => (await import('../jobs/JobsPage.tsx')).JobsPage);
const job = page(async () => (await import('../jobs/JobPage.tsx')).JobPage);

const pages: Record<AccountRole, RouteObject[]> = {
  operator: [
    {
      index: true,
      lazy: page(async () => (await import('../overview/OperatorOverview.tsx')).OperatorOverview),
    },
    {
      path: 'approvals',
      lazy: page(async () => (await import('../approvals/ApprovalsPage.tsx')).ApprovalsPage),
    },
    { path: 'jobs', lazy: jobs },
    { path: 'jobs/:jobId', lazy: job },
    {
      path: 'schedules/:scheduleId',
      lazy: page(async () => (await import('../schedules/OperatorSchedulePage.tsx')).OperatorSchedulePage),
    },
    { path: 'users', lazy: page(async () => (await import('../users/UsersPage.tsx')).UsersPage) },
    { path: 'users/:userId', lazy: page(async () => (await import('../users/UserPage.tsx')).UserPage) },
    {
      path: 'operators',
      lazy: page(async () => (await import('../operators/OperatorsPage.tsx')).OperatorsPage),
    },
    { path: 'ledger', lazy: page(async () => (await import('../ledger/AllLedgersPage.tsx')).AllLedgersPage) },
    { path: 'origins', lazy: page(async () => (await import('../origins/OriginsPage.tsx')).OriginsPage) },
    { path: 'work', lazy: page(async () => (await import('../work/WorkPage.tsx')).WorkPage) },
    { path: 'audit', lazy: page(async () => (await import('../audit/AuditPage.tsx')).AuditPage) },
    { path: 'settings', lazy: page(async () => (await import('../settings/SettingsPage.tsx')).SettingsPage) },
    {
      path: 'deliveries',
      lazy: page(async () => (await import('../deliveries/DeliveriesPage.tsx')).DeliveriesPage),
    },
  ],
  user: [
    { index: true, lazy: page(async () => (await import('../overview/UserOverview.tsx')).UserOverview) },
    { path: 'jobs', lazy: jobs },
    { path: 'jobs/:jobId', lazy: job },
    { path: 'submit', lazy: page(async () => (await import('../submit/JobTypesPage.tsx')).JobTypesPage) },
    { path: 'try', lazy: page(async () => (await import('../submit/TryPage.tsx')).TryPage) },
    {
      path: 'submit/:market/:kind',
      lazy: page(async () => (await import('../submit/SubmitPage.tsx')).SubmitPage),
    },
    {
      path: 'schedules',
      lazy: page(async () => (await import('../schedules/SchedulesPage.tsx')).SchedulesPage),
    },
    {
      path: 'schedules/:scheduleId',
      lazy: page(async () => (await import('../schedules/SchedulePage.tsx')).SchedulePage),
    },
    { path: 'prices', lazy: page(async () => (await import('../prices/PricesPage.tsx')).PricesPage) },
    { path: 'ledger', lazy: page(async () => (await import('../ledger/LedgerPage.tsx')).LedgerPage) },
    { path: 'keys', lazy: page(async () => (await import('../keys/KeysPage.tsx')).KeysPage) },
    { path: 'history', lazy: page(async () => (await import('../history/HistoryPage.tsx')).HistoryPage) },
    {
      path: 'history/:market/:region/:key',
      lazy: page(async () => (await import('../history/ItemPage.tsx')).ItemPage),
    },
    { path: 'rules', lazy: page(async () => (await import('../history/RulesPage.tsx')).RulesPage) },
    {
      path: 'destinations',
      lazy: page(async () => (await import('../destinations/DestinationsPage.tsx')).DestinationsPage),
    },
    { path: 'webhook', lazy: page(async () => (await import('../webhook/WebhookPage.tsx')).WebhookPage) },
  ],
};

const basename = '/console';

/** Loads the code of the pages at a path, of either role. */
export async function preload(path: string): Promise<void> {
  const found = Object.values(pages).flatMap((routes) => matchRoutes(routes, path, basename) ?? []);
  await Promise.all(found.map(({ route }) => (typeof route.lazy === 'function' ? route.lazy() : null)));
}

/** Creates the router of a role, below /console. */
export function createRouter(role: AccountRole) {
  return createBrowserRouter(
    [
      {
        element: <Shell />,
        hydrateFallbackElement: <Loading />,
        errorElement: <RouteError />,
        children: [
          {
            errorElement: <RouteError />,
            hydrateFallbackElement: <Loading />,
            children: [...pages[role], { path: '*', element: <NotFound /> }],
          },
        ],
      },
    ],
    { basename },
  );
}

/** Shown when a page fails to render or its code cannot be loaded. */
function RouteError() {
  const error = useRouteError();
  return (
    <Page title="Something went wrong">
      <ErrorAlert error={error} title="This page could not be loaded" retry={() => location.reload()} />
    </Page>
  );
}
