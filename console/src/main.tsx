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
import { basename, preloadPage } from './app/page-code.ts';
import { sendFirstCall } from './ui/session/first-call.ts';
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

const session = requestSession();
// Where it is rendered, a page reports that its code could not be loaded.
preload(session).catch(() => {});
// The title of the job is the largest text of its page.
const [, jobId] = /^\/jobs\/([\w-]+)\/?$/.exec(location.pathname.slice(basename.length)) ?? [];
if (jobId !== undefined)
  sendFirstCall(session, 'gleaner.job.v1.JobService/GetJob', { jobId }).catch(() => {});
// Not awaited: other files of the build import this one.
void import('./app/App.tsx').then(({ render }) => render(document.getElementById('console')!));
