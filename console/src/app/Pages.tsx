import { TransportProvider } from '@connectrpc/connect-query';
import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { RouterProvider } from 'react-router/dom';
import { queryClient } from '../ui/queries.ts';
import type { AccountRole } from '../ui/session/session.ts';
import { transport } from '../ui/session/transport.ts';
import { createRouter } from './routes.tsx';

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
