import { MantineProvider } from '@mantine/core';
import { lazy, Suspense, useEffect } from 'react';
import { Toasts } from '../ui/errors/Toasts.tsx';
import { Loading } from '../ui/layout/Loading.tsx';
import { useSessionState } from '../ui/session/session.ts';
import { followSession } from '../ui/session/sign-in.ts';
import { styleNonce } from './nonce.ts';
import { cssVariables, theme } from './theme.ts';

const loadPages = () => import('./Pages.tsx');
const Pages = lazy(async () => ({ default: (await loadPages()).Pages }));
const SignIn = lazy(async () => ({ default: (await import('./SignIn.tsx')).SignIn }));

/**
 * Loads the code of the page at the address of the browser while the session is read. The start page needs
 * none before the sign-in.
 */
async function preloadPage(): Promise<void> {
  const path = location.pathname;
  if (!/^\/console\/./.test(path)) return;
  await (await loadPages()).preload(path);
}

// Where it is rendered, a page reports that its code could not be loaded.
preloadPage().catch(() => {});

/** The console: the sign-in page, or the pages of the signed-in role. */
export function App() {
  const { session, message } = useSessionState();
  useEffect(followSession, []);
  return (
    <MantineProvider
      theme={theme}
      cssVariablesResolver={cssVariables}
      defaultColorScheme="auto"
      getStyleNonce={() => styleNonce}
    >
      <Toasts />
      <Suspense fallback={<Loading />}>
        {session === undefined ? (
          <Loading />
        ) : session ? (
          <Pages role={session.role} key={session.csrfToken} />
        ) : (
          <SignIn message={message} />
        )}
      </Suspense>
    </MantineProvider>
  );
}
