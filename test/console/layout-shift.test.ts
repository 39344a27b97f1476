import type { Page } from 'puppeteer-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { chromium, skipped } from '../browser/chromium.ts';
import { type TestUser, watchJob } from '../support/service/api.ts';
import { useConsole } from './suite.ts';
import { enterSession, openTab, waitForLoaded } from './tab.ts';

/** Order in which the page receives the responses of its first calls. */
type ResponseOrder = 'as they were requested' | 'in reverse';

/** Movement of visible content, as browsers measure it. */
interface LayoutShift {
  /** Share of the viewport that moved, times the distance. */
  value: number;
  /** Texts of the elements that moved. */
  moved: string[];
}

// Scripts as text: they run in the browser.
const observeShifts = `globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries())
      shifts.push({ value, moved: sources.map(({ node }) => node?.textContent.slice(0, 60)) });
  }).observe({ type: 'layout-shift', buffered: true });`;

/** Lets the page receive one response at a time, and paint before the next one. */
const serializeResponses = (order: ResponseOrder) => `{
  const send = globalThis.fetch;
  const waiting = [];
  let isReleasing = false;
  const paint = () =>
    new Promise((resolve) =>
      requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve))));
  const release = async () => {
    isReleasing = true;
    for (;;) {
      await paint();
      const next = waiting.${order === 'in reverse' ? 'pop' : 'shift'}();
      if (next === undefined) break;
      await next();
    }
    isReleasing = false;
  };
  globalThis.fetch = (...request) =>
    new Promise((resolve) => {
      waiting.push(() => {
        const response = send(...request);
        resolve(response);
        return response.then(() => {}, () => {});
      });
      if (!isReleasing) void release();
    });
}`;

const figuresComplete = `!document.querySelector('[aria-label=Figures]')?.innerText.includes('…')`;

describe.skipIf('missing' in chromium)(`on a phone, content does not move${skipped}`, () => {
  const suite = useConsole();
  let newUser: TestUser;
  let user: TestUser;
  let jobId: string;
  beforeAll(async () => {
    newUser = await suite.createUser('New phone Ltd', 100);
    user = await suite.createUser('Old phone Ltd', 10_000);
    jobId = await suite.submit(user, 60);
    await suite.env.api.operator('ApproveJob', { job_id: jobId });
    await watchJob(suite.env.api, user, jobId, 30_000);
    await suite.submit(user, 3);
  });

  const shiftsOf = async (
    open: (page: Page) => Promise<unknown>,
    order: ResponseOrder,
  ): Promise<LayoutShift[]> => {
    const tab = await openTab(suite.browser, { width: 390, height: 844 });
    await tab.page.evaluateOnNewDocument(observeShifts);
    await tab.page.evaluateOnNewDocument(serializeResponses(order));
    await open(tab.page);
    await waitForLoaded(tab.page);
    await tab.page.waitForFunction(figuresComplete);
    await waitForLoaded(tab.page);
    const shifts = (await tab.page.evaluate('shifts')) as LayoutShift[];
    await tab.close();
    return shifts;
  };
  const expectStable = (shifts: LayoutShift[]) => {
    const sum = shifts.reduce((total, { value }) => total + value, 0);
    expect(sum, JSON.stringify(shifts, null, 2)).toBeLessThan(0.01);
  };

  const pages: [string, () => { key: string; path: string }][] = [
    ['the overview of a new user', () => ({ key: newUser.key, path: '' })],
    ['the overview of a user', () => ({ key: user.key, path: '' })],
    ['the overview of an operator', () => ({ key: suite.env.deployment.operatorKey, path: '' })],
    ['the jobs', () => ({ key: user.key, path: '/jobs' })],
    ['the job', () => ({ key: user.key, path: `/jobs/${jobId}` })],
  ];
  describe.each<ResponseOrder>(['as they were requested', 'in reverse'])(
    'with responses %s',
    (order) => {
      test.each(pages)('on %s', async (_name, of) => {
        const { key, path } = of();
        const url = suite.env.url;
        expectStable(await shiftsOf((page) => enterSession(page, url, path, key), order));
      });

      test('on the sign-in page', async () => {
        expectStable(await shiftsOf((page) => page.goto(suite.env.url), order));
      });
    },
  );
});
