// Loads the code of the console while the session is read. This file is small, so that it starts
// early.
import './app/nonce.ts';
import './app/splash.css';
import './app/typeface.css';
import '@mantine/core/styles.css';
import '@mantine/charts/styles.css';
import '@mantine/dropzone/styles.css';
import '@mantine/notifications/styles.css';
import '@mantine/spotlight/styles.css';
import { preloadPage } from './app/page-code.ts';
import { requestSession } from './ui/session/first-session.ts';
import type { AccountRole } from './ui/session/session.ts';

/**
 * Loads the code of the page at the address of the browser. The start page of a role needs its
 * session.
 */
async function preload(session: Promise<Response>): Promise<void> {
  const { pathname } = location;
  let role: AccountRole | undefined;
  if (!/^\/console\/./.test(pathname)) {
    const response = (await session).clone();
    if (response.status !== 200) return;
    ({ role } = await response.json());
  }
  await Promise.all([
    // Evaluated on its own, so that a phone can react in between.
    import('./ui/session/transport.ts'),
    import('./app/Pages.tsx'),
    preloadPage(pathname, role),
  ]);
}

// Where it is rendered, a page reports that its code could not be loaded.
preload(requestSession()).catch(() => {});
// Not awaited: other files of the build import this one.
void import('./app/App.tsx').then(({ render }) => render(document.getElementById('console')!));
