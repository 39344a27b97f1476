import { TransportProvider } from '@connectrpc/connect-query';
import { QueryClientProvider } from '@tanstack/react-query';
import { lazy, useEffect, useState } from 'react';
import { ErrorBoundary } from 'react-error-boundary';
import { BrowserRouter, Route, Routes } from 'react-router';
import { NotFound } from '../ui/layout/Page.tsx';
import { queryClient } from '../ui/queries.ts';
import type { AccountRole } from '../ui/session/session.ts';
import { transport } from '../ui/session/transport.ts';
import { basename, pages } from './page-code.ts';
import { PageError } from './shell/PageError.tsx';
import { Shell } from './shell/Shell.tsx';

/** Pages of a role, for one session. */
export function Pages({ role }: { role: AccountRole }) {
  const [routes] = useState(() => routesOf(role));
  // Cached responses must not be shown to the next session.
  useEffect(() => () => queryClient.clear(), []);
  return (
    <TransportProvider transport={transport}>
      <QueryClientProvider client={queryClient}>
        <ErrorBoundary FallbackComponent={PageError}>
          <BrowserRouter basename={basename}>
            <Routes>
              <Route element={<Shell />}>
                {routes.map(([path, Content]) =>
                  path === '' ? (
                    <Route key={path} index element={<Content />} />
                  ) : (
                    <Route key={path} path={path} element={<Content />} />
                  ),
                )}
                <Route path="*" element={<NotFound />} />
              </Route>
            </Routes>
          </BrowserRouter>
        </ErrorBoundary>
      </QueryClientProvider>
    </TransportProvider>
  );
}

/** Returns the pages of a role by their paths. The code of a page is loaded on its first use. */
const routesOf = (role: AccountRole) =>
  Object.entries(pages[role]).map(
    ([path, load]) => [path, lazy(async () => ({ default: await load() }))] as const,
  );
