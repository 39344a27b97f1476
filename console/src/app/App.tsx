import { TransportProvider } from '@connectrpc/connect-query';
import { MantineProvider } from '@mantine/core';
import { ModalsProvider } from '@mantine/modals';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { useEffect, useMemo } from 'react';
import { RouterProvider } from 'react-router/dom';
import { Loading } from '../layout/Loading.tsx';
import { SignIn } from '../session/SignIn.tsx';
import { useSessionState } from '../session/session.ts';
import { followSession } from '../session/sign-in.ts';
import { transport } from '../session/transport.ts';
import { styleNonce } from './nonce.ts';
import { queryClient } from './queries.ts';
import { createRouter } from './routes.tsx';
import { cssVariables, theme } from './theme.ts';

/** The console: the sign-in page, or the pages of the signed-in role. */
export function App() {
  const { session, message } = useSessionState();
  const token = session?.csrfToken;
  const role = session?.role;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new token is a new session.
  const router = useMemo(() => (role ? createRouter(role) : null), [role, token]);
  useEffect(followSession, []);
  useEffect(() => {
    // Cached responses must not be shown to the next session.
    if (token === undefined) queryClient.clear();
  }, [token]);
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => styleNonce}
    >
      <TransportProvider transport={transport}>
        <QueryClientProvider client={queryClient}>
          <Notifications position="bottom-right" />
          <ModalsProvider>
            {session === undefined ? (
              <Loading />
            ) : router ? (
              <RouterProvider router={router} />
            ) : (
              <SignIn message={message} />
            )}
          </ModalsProvider>
        </QueryClientProvider>
      </TransportProvider>
    </MantineProvider>
  );
}
