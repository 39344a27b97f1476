import { beforeEach, describe, expect, test } from 'vitest';
import {
  createManualClock,
  flushTasks,
  type ManualClock,
} from '../../../test/support/time/clock.ts';
import { createLog } from '../../base/log.ts';
import { Fault } from '../../contract/fault.ts';
import type { SessionScope } from '../cookie-store.ts';
import type { BrowserProcess, PoolLimits } from './browser-process.ts';
import { BrowserPool } from './pool.ts';

/** A page of a fake browser. */
interface FakePage {
  browser: number;
  context: string;
}

/** Events of the fake browsers, in order. */
let events: string[];
/** Errors that the fake browsers throw. */
let broken: { launch?: Fault; context?: Error; page?: Error; pageClose?: Error };
let memory: number | null;
/** Responses of the fake browsers. */
let pings: Promise<unknown>;
/** Delays launches. */
let starting: Promise<void>;
/** Delays the ends of contexts. */
let closing: Promise<void>;
let crash: (() => void)[];
let open: number;
let maxOpen: number;
let clock: ManualClock;
let pool: BrowserPool<FakePage>;

const limits: PoolLimits = {
  pages: 2,
  contexts: 2,
  contextPages: 3,
  contextMs: 60_000,
  browserPages: 100,
  memoryBytes: 1_000,
  memoryCheckMs: 1_000,
  idleMs: 10_000,
};

const site = (region: string, origin = `https://${region}.example`): SessionScope => ({
  market: 'mkta',
  region,
  origin,
});

async function launch(): Promise<BrowserProcess<FakePage>> {
  if (broken.launch) throw broken.launch;
  const browser = crash.length + 1;
  const { promise: gone, resolve: end } = Promise.withResolvers<void>();
  crash.push(end);
  events.push(`launch ${browser}`);
  await starting;
  let contexts = 0;
  return {
    gone,
    memory: async () => memory,
    ping: () => pings,
    kill: () => events.push(`kill ${browser}`),
    async context({ region }) {
      if (broken.context) throw broken.context;
      contexts += 1;
      const context = `${region}${contexts}`;
      events.push(`open ${context}`);
      return {
        async page() {
          if (broken.page) throw broken.page;
          open += 1;
          maxOpen = Math.max(maxOpen, open);
          return {
            page: { browser, context },
            close: async () => {
              open -= 1;
              if (broken.pageClose) throw broken.pageClose;
            },
          };
        },
        close: async (keepsCookies) => {
          await closing;
          events.push(`close ${context}${keepsCookies ? '' : ' without cookies'}`);
        },
      };
    },
    async close() {
      events.push(`end ${browser}`);
      end();
    },
  };
}

function newPool(changed: Partial<PoolLimits> = {}): BrowserPool<FakePage> {
  return new BrowserPool(launch, { ...limits, ...changed }, clock, createLog('silent', 'test'));
}

/** Opens and closes a page, and returns its browser and context. */
const usePage = (scope: SessionScope) =>
  pool.use(scope, async ({ browser, context }) => `${browser} ${context}`);

/** Opens a page that stays open until `closePage` is called. */
function openPage(scope: SessionScope): { done: Promise<unknown>; closePage(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { done: pool.use(scope, () => promise), closePage: resolve };
}

beforeEach(() => {
  events = [];
  broken = {};
  memory = 10;
  pings = Promise.resolve();
  starting = Promise.resolve();
  closing = Promise.resolve();
  crash = [];
  open = 0;
  maxOpen = 0;
  clock = createManualClock(1_000_000);
  pool = newPool();
});

test('use() starts one browser with the first page, and shares a context between the pages of a session', async () => {
  await Promise.resolve();
  expect(events).toEqual([]);
  const places = await Promise.all([usePage(site('sg')), usePage(site('sg')), usePage(site('my'))]);
  expect(places).toEqual(['1 sg1', '1 sg1', '1 my2']);
  expect(events).toEqual(['launch 1', 'open sg1', 'open my2']);
});

test('use() limits concurrent pages, and stops waiting if aborted', async () => {
  const [one, two] = [openPage(site('sg')), openPage(site('sg'))];
  const leaving = new AbortController();
  const gone = pool.use(site('sg'), async () => 'in', leaving.signal);
  const third = usePage(site('sg'));
  await flushTasks();
  expect(open).toBe(2);
  leaving.abort(new Error('stopping'));
  await expect(gone).rejects.toThrow('stopping');
  one.closePage();
  expect(await third).toBe('1 sg1');
  two.closePage();
  await two.done;
  expect(maxOpen).toBe(2);
});

test('use() rejects with the error of the task, and closes its page', async () => {
  await expect(
    pool.use(site('sg'), async () => {
      throw new Fault('page_blocked', 'no');
    }),
  ).rejects.toMatchObject({ code: 'page_blocked' });
  expect(open).toBe(0);
  expect(await usePage(site('sg'))).toBe('1 sg1');
});

describe('the replacement of a context', () => {
  test('happens after the maximum number of pages, once the last of them is closed', async () => {
    const page = openPage(site('sg'));
    await usePage(site('sg'));
    await usePage(site('sg'));
    expect(await usePage(site('sg'))).toBe('1 sg2');
    expect(events).not.toContain('close sg1');
    page.closePage();
    await page.done;
    await flushTasks();
    expect(events).toEqual(['launch 1', 'open sg1', 'open sg2', 'close sg1']);
  });

  test('waits until the previous one of the session has saved its cookies', async () => {
    pool = newPool({ contextPages: 1 });
    const saved = Promise.withResolvers<void>();
    closing = saved.promise;
    await usePage(site('sg'));
    const next = usePage(site('sg'));
    expect(await usePage(site('my'))).toBe('1 my2');
    saved.resolve();
    expect(await next).toBe('1 sg3');
    expect(events.indexOf('close sg1')).toBeLessThan(events.indexOf('open sg3'));
    expect(events).toContain('open sg3');
  });

  test('happens after the maximum age', async () => {
    pool = newPool({ idleMs: 10 * 60_000 });
    await usePage(site('sg'));
    await clock.advance(60_000);
    expect(await usePage(site('sg'))).toBe('1 sg2');
    expect(events).toContain('close sg1');
  });

  test('happens if another context is needed and this one is the least recently used', async () => {
    await usePage(site('sg'));
    await usePage(site('my'));
    await usePage(site('sg'));
    await usePage(site('th'));
    await flushTasks();
    expect(events).toEqual(['launch 1', 'open sg1', 'open my2', 'open th3', 'close my2']);
    expect(await usePage(site('sg'))).toBe('1 sg1');
  });

  test('drops its cookies if the session of its region is dropped', async () => {
    await usePage(site('sg'));
    await usePage(site('my'));
    pool.drop('mkta', 'sg');
    expect(await usePage(site('sg'))).toBe('1 sg3');
    expect(await usePage(site('my'))).toBe('1 my2');
    expect(events).toContain('close sg1 without cookies');
  });
});

describe('the restart of the browser', () => {
  test('happens after the maximum number of pages, once the previous browser has ended, and keeps cookies', async () => {
    pool = newPool({ browserPages: 2 });
    const page = openPage(site('sg'));
    await usePage(site('my'));
    const next = usePage(site('sg'));
    await flushTasks();
    expect(events).not.toContain('launch 2');
    page.closePage();
    expect(await next).toBe('2 sg1');
    expect(events.slice(3).sort()).toEqual([
      'close my2',
      'close sg1',
      'end 1',
      'launch 2',
      'open sg1',
    ]);
    expect(events.indexOf('launch 2')).toBeGreaterThan(events.indexOf('end 1'));
  });

  test('waits until a context that is being closed has saved its cookies', async () => {
    pool = newPool({ contextPages: 1, browserPages: 1 });
    const saved = Promise.withResolvers<void>();
    closing = saved.promise;
    await usePage(site('sg'));
    await flushTasks();
    expect(events).toEqual(['launch 1', 'open sg1']);
    saved.resolve();
    expect(await usePage(site('sg'))).toBe('2 sg1');
    expect(events).toEqual(['launch 1', 'open sg1', 'close sg1', 'end 1', 'launch 2', 'open sg1']);
  });

  test('happens above the memory limit, once its pages are closed', async () => {
    const page = openPage(site('sg'));
    await flushTasks();
    memory = 1_001;
    await clock.advance(1_000);
    expect(events).not.toContain('end 1');
    page.closePage();
    await page.done;
    expect(await usePage(site('sg'))).toBe('2 sg1');
  });

  test('happens immediately above twice the memory limit', async () => {
    const page = openPage(site('sg'));
    await flushTasks();
    memory = 2_001;
    await clock.advance(1_000);
    expect(events).toContain('end 1');
    page.closePage();
    await page.done;
    expect(await usePage(site('sg'))).toBe('2 sg1');
  });

  test('happens immediately if its last pages exceed twice the limit', async () => {
    const page = openPage(site('sg'));
    await flushTasks();
    memory = 1_001;
    await clock.advance(1_000);
    memory = 2_001;
    await clock.advance(1_000);
    expect(events).toContain('end 1');
    page.closePage();
    await page.done;
  });

  test('happens after a crash, for the next page', async () => {
    await usePage(site('sg'));
    crash[0]!();
    await flushTasks();
    expect(events).toEqual(['launch 1', 'open sg1', 'close sg1']);
    expect(await usePage(site('sg'))).toBe('2 sg1');
  });

  test.each(['context', 'page'] as const)(
    'happens if no %s can be opened, and the task fails',
    async (what) => {
      broken[what] = new Error('out of memory');
      await expect(usePage(site('sg'))).rejects.toMatchObject({
        code: 'browser_failed',
        message: /out of memory/,
      });
      broken = {};
      expect(await usePage(site('sg'))).toBe('2 sg1');
      expect(events).toContain('end 1');
    },
  );

  test('happens if a page cannot be closed, and the task succeeds', async () => {
    broken.pageClose = new Error('hangs');
    expect(await usePage(site('sg'))).toBe('1 sg1');
    broken = {};
    expect(await usePage(site('sg'))).toBe('2 sg1');
  });

  test('happens immediately if it does not respond', async () => {
    pings = Promise.reject(new Error('hangs'));
    pings.catch(() => {});
    const page = openPage(site('sg'));
    await flushTasks();
    await clock.advance(1_000);
    expect(events).toEqual(expect.arrayContaining(['kill 1', 'end 1']));
    page.closePage();
    await page.done;
    pings = Promise.resolve();
    expect(await usePage(site('sg'))).toBe('2 sg1');
  });

  test('does not happen if the system does not report the memory', async () => {
    memory = null;
    await usePage(site('sg'));
    await clock.advance(5_000);
    expect(await usePage(site('sg'))).toBe('1 sg1');
  });
});

test('an idle browser is closed, and started again for the next page', async () => {
  await usePage(site('sg'));
  await clock.advance(9_000);
  await usePage(site('sg'));
  await clock.advance(9_000);
  expect(events).not.toContain('end 1');
  await clock.advance(2_000);
  expect(events).toEqual(['launch 1', 'open sg1', 'close sg1', 'end 1']);
  expect(await usePage(site('sg'))).toBe('2 sg1');
});

test('a failed launch rejects all waiting calls, and the next call retries it', async () => {
  broken.launch = new Fault('browser_missing', 'install it');
  const results = await Promise.allSettled([usePage(site('sg')), usePage(site('my'))]);
  expect(results.map((result) => result.status === 'rejected' && result.reason.code)).toEqual([
    'browser_missing',
    'browser_missing',
  ]);
  broken = {};
  expect(await usePage(site('sg'))).toBe('1 sg1');
});

test('close() closes the browser, and later calls fail', async () => {
  const page = openPage(site('sg'));
  await flushTasks();
  await pool.close();
  expect(events).toContain('end 1');
  await expect(usePage(site('sg'))).rejects.toMatchObject({ code: 'browser_failed' });
  page.closePage();
  await page.done;
  await pool.close();
  expect(clock.sleepers()).toBe(0);
});

test('close() also closes a browser that is starting', async () => {
  const { promise: starts, resolve: start } = Promise.withResolvers<void>();
  starting = starts;
  const waiting = usePage(site('sg'));
  await flushTasks();
  setImmediate(start);
  await Promise.all([
    pool.close(),
    expect(waiting).rejects.toMatchObject({ code: 'browser_failed' }),
  ]);
  expect(events).toEqual(['launch 1', 'end 1']);
});
