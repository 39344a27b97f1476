import { TransportProvider } from '@connectrpc/connect-query';
import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { createBrowserRouter, useRouteError } from 'react-router';
import { RouterProvider } from 'react-router/dom';
import { ErrorAlert } from '../ui/errors/ErrorAlert.tsx';
import { Loading } from '../ui/layout/Loading.tsx';
import { NotFound, Page } from '../ui/layout/Page.tsx';
import { queryClient } from '../ui/queries.ts';
import type { AccountRole } from '../ui/session/session.ts';
import { transport } from '../ui/session/transport.ts';
import { basename, pages } from './page-code.ts';
import { Shell } from './shell/Shell.tsx';

/** Pages of a role, for one session. */
export function Pages({ role }: { role: AccountRole }) {
  const [router] = useState(() => createRouter(role));
  // Cached responses must not be shown to the next session.
  useEffect(() => () => queryClient.clear(), []);
  return (
    <TransportProvider transport={transport}>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </TransportProvider>
  );
}

/** Creates the router of a role, below /console. The code of a page is loaded on its first use. */
export function createRouter(role: AccountRole) {
  const routes = Object.entries(pages[role]).map(([path, load]) => ({
    ...(path === '' ? { index: true as const } : { path }),
    lazy: async () => ({ Component: await load() }),
  }));
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
            children: [...routes, { path: '*', element: <NotFound /> }],
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
      <ErrorAlert
        error={error}
        title="This page could not be loaded"
        retry={() => location.reload()}
      />
    </Page>
  );
}
