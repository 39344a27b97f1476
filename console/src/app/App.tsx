import { MantineProvider } from '@mantine/core';
import {
  lazy,
  StrictMode,
  Suspense,
  useDeferredValue,
  useEffect,
  useSyncExternalStore,
} from 'react';
import { createRoot } from 'react-dom/client';
import { followToasts, hasToasts } from '../ui/errors/toast.ts';
import { Loading } from '../ui/layout/Loading.tsx';
import { useSessionState } from '../ui/session/session.ts';
import { followSession } from '../ui/session/sign-in.ts';
import { styleNonce } from './nonce.ts';
import { SignIn } from './SignIn.tsx';
import { cssVariables, theme } from './theme.ts';

const Pages = lazy(async () => ({ default: (await import('./Pages.tsx')).Pages }));

const SwitchAccount = lazy(async () => ({
  default: (await import('./SwitchAccount.tsx')).SwitchAccount,
}));

const Notifications = lazy(async () => ({
  default: (await import('@mantine/notifications')).Notifications,
}));

/** Place of the notifications, from the first one on. */
function Toasts() {
  const isUsed = useSyncExternalStore(followToasts, hasToasts);
  return isUsed ? (
    <Suspense>
      <Notifications position="bottom-right" />
    </Suspense>
  ) : null;
}

/** The console: the sign-in page, or the pages of the signed-in role. */
function App() {
  // Deferred, pages are rendered in steps between which a phone reacts to its user.
  const { session, message, accountSwitch } = useDeferredValue(useSessionState());
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
        {accountSwitch && <SwitchAccount {...accountSwitch} />}
        {session === undefined && !accountSwitch && <Loading />}
        {session === null && <SignIn message={message} />}
        {session && <Pages role={session.role} key={session.csrfToken} />}
      </Suspense>
    </MantineProvider>
  );
}

/** Shows the console in an element. */
export function render(element: Element): void {
  createRoot(element).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
