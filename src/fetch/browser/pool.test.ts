import { beforeEach, describe, expect, test } from 'vitest';
import { createManualClock, flushTasks, type ManualClock } from '../../../test/support/clock.ts';
import { createLog } from '../../base/log.ts';
import { Fault } from '../../contract/fault.ts';
import type { Visited } from '../sessions.ts';
import { createPool, type Engine, type Pool, type PoolLimits } from './pool.ts';

/** A page of a browser that is none: where it belongs. */
interface FakePage {
  browser: number;
  context: string;
}

/** What the browsers did, in order, and how they are to behave. */
let did: string[];
let broken: { launch?: Fault; context?: Error; page?: Error; pageClose?: Error };
let memory: number | null;
/** What a launch waits for. */
let starting: Promise<void>;
let crash: (() => void)[];
let open: number;
let mostOpen: number;
let clock: ManualClock;
let pool: Pool<FakePage>;

const limits: PoolLimits = {
  pages: 2,
  contexts: 2,
  contextPages: 3,
  contextMs: 60_000,
  enginePages: 100,
  memoryBytes: 1_000,
  memoryCheckMs: 1_000,
  idleMs: 10_000,
};

const site = (region: string, origin = `https://${region}.example`): Visited => ({
  market: 'mkta',
  region,
  origin,
});

async function launch(): Promise<Engine<FakePage>> {
  if (broken.launch) throw broken.launch;
  const browser = crash.length + 1;
  const { promise: gone, resolve: end } = Promise.withResolvers<void>();
  crash.push(end);
  did.push(`launch ${browser}`);
  await starting;
  let contexts = 0;
  return {
    gone,
    memory: async () => memory,
    async context({ region }) {
      if (broken.context) throw broken.context;
      contexts += 1;
      const context = `${region}${contexts}`;
      did.push(`open ${context}`);
      return {
        async page() {
          if (broken.page) throw broken.page;
          open += 1;
          mostOpen = Math.max(mostOpen, open);
          return {
            page: { browser, context },
            close: async () => {
              open -= 1;
              if (broken.pageClose) throw broken.pageClose;
            },
          };
        },
        close: async (works) => {
          did.push(`close ${context}${works ? '' : ' forgotten'}`);
        },
      };
    },
    async close() {
      did.push(`end ${browser}`);
      end();
    },
  };
}

function makePool(changed: Partial<PoolLimits> = {}): Pool<FakePage> {
  return createPool(launch, { ...limits, ...changed }, clock, createLog('silent', 'test'));
}

/** Where a page was opened. */
const visit = (visited: Visited) =>
  pool.use(visited, async ({ browser, context }) => `${browser} ${context}`);

/** A page that stays open until it is let go. */
function longVisit(visited: Visited): { done: Promise<unknown>; letGo(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { done: pool.use(visited, () => promise), letGo: resolve };
}

beforeEach(() => {
  did = [];
  broken = {};
  memory = 10;
  starting = Promise.resolve();
  crash = [];
  open = 0;
  mostOpen = 0;
  clock = createManualClock(1_000_000);
  pool = makePool();
});

test('the browser starts with the first page, once, and pages of a site share a context', async () => {
  await Promise.resolve();
  expect(did).toEqual([]);
  const places = await Promise.all([visit(site('sg')), visit(site('sg')), visit(site('my'))]);
  expect(places).toEqual(['1 sg1', '1 sg1', '1 my2']);
  expect(did).toEqual(['launch 1', 'open sg1', 'open my2']);
});

test('no more pages are open at once than allowed, and who waits can go away', async () => {
  const [one, two] = [longVisit(site('sg')), longVisit(site('sg'))];
  const leaving = new AbortController();
  const gone = pool.use(site('sg'), async () => 'in', leaving.signal);
  const third = visit(site('sg'));
  await flushTasks();
  expect(open).toBe(2);
  leaving.abort(new Error('stopping'));
  await expect(gone).rejects.toThrow('stopping');
  one.letGo();
  expect(await third).toBe('1 sg1');
  two.letGo();
  await two.done;
  expect(mostOpen).toBe(2);
});

test('what a task throws is thrown, and its page is closed', async () => {
  await expect(
    pool.use(site('sg'), async () => {
      throw new Fault('page_blocked', 'no');
    }),
  ).rejects.toMatchObject({ code: 'page_blocked' });
  expect(open).toBe(0);
  expect(await visit(site('sg'))).toBe('1 sg1');
});

describe('a context is recycled', () => {
  test('after so many pages, once the last of them is done', async () => {
    const long = longVisit(site('sg'));
    await visit(site('sg'));
    await visit(site('sg'));
    expect(await visit(site('sg'))).toBe('1 sg2');
    expect(did).not.toContain('close sg1');
    long.letGo();
    await long.done;
    await flushTasks();
    expect(did).toEqual(['launch 1', 'open sg1', 'open sg2', 'close sg1']);
  });

  test('after its time', async () => {
    pool = makePool({ idleMs: 10 * 60_000 });
    await visit(site('sg'));
    await clock.advance(60_000);
    expect(await visit(site('sg'))).toBe('1 sg2');
    expect(did).toContain('close sg1');
  });

  test('when another one needs its room: the one that was not used for longest', async () => {
    await visit(site('sg'));
    await visit(site('my'));
    await visit(site('sg'));
    await visit(site('th'));
    await flushTasks();
    expect(did).toEqual(['launch 1', 'open sg1', 'open my2', 'open th3', 'close my2']);
    expect(await visit(site('sg'))).toBe('1 sg1');
  });

  test('without its cookies when its session no longer works, for that region alone', async () => {
    await visit(site('sg'));
    await visit(site('my'));
    pool.drop('mkta', 'sg');
    expect(await visit(site('sg'))).toBe('1 sg3');
    expect(await visit(site('my'))).toBe('1 my2');
    expect(did).toContain('close sg1 forgotten');
  });
});

describe('the browser is restarted', () => {
  test('after so many pages, never two at a time, cookies kept', async () => {
    pool = makePool({ enginePages: 2 });
    const long = longVisit(site('sg'));
    await visit(site('my'));
    const next = visit(site('sg'));
    await flushTasks();
    expect(did).not.toContain('launch 2');
    long.letGo();
    expect(await next).toBe('2 sg1');
    expect(did.slice(3).sort()).toEqual(['close my2', 'close sg1', 'end 1', 'launch 2', 'open sg1']);
    expect(did.indexOf('launch 2')).toBeGreaterThan(did.indexOf('end 1'));
  });

  test('when its memory is above the bound, once its pages are done', async () => {
    const long = longVisit(site('sg'));
    await flushTasks();
    memory = 1_001;
    await clock.advance(1_000);
    expect(did).not.toContain('end 1');
    long.letGo();
    await long.done;
    expect(await visit(site('sg'))).toBe('2 sg1');
  });

  test('at once when its memory is twice the bound', async () => {
    const long = longVisit(site('sg'));
    await flushTasks();
    memory = 2_001;
    await clock.advance(1_000);
    expect(did).toContain('end 1');
    long.letGo();
    await long.done;
    expect(await visit(site('sg'))).toBe('2 sg1');
  });

  test('at once when its last pages grow on', async () => {
    const long = longVisit(site('sg'));
    await flushTasks();
    memory = 1_001;
    await clock.advance(1_000);
    memory = 2_001;
    await clock.advance(1_000);
    expect(did).toContain('end 1');
    long.letGo();
    await long.done;
  });

  test('after a crash, by the next page', async () => {
    await visit(site('sg'));
    crash[0]!();
    await flushTasks();
    expect(did).toEqual(['launch 1', 'open sg1', 'close sg1']);
    expect(await visit(site('sg'))).toBe('2 sg1');
  });

  test.each(['context', 'page'] as const)('when no %s can be opened, which fails the task', async (what) => {
    broken[what] = new Error('out of memory');
    await expect(visit(site('sg'))).rejects.toMatchObject({
      code: 'browser_failed',
      message: /out of memory/,
    });
    broken = {};
    expect(await visit(site('sg'))).toBe('2 sg1');
    expect(did).toContain('end 1');
  });

  test('when a page cannot be closed, which does not fail the task', async () => {
    broken.pageClose = new Error('hangs');
    expect(await visit(site('sg'))).toBe('1 sg1');
    broken = {};
    expect(await visit(site('sg'))).toBe('2 sg1');
  });

  test('is not where the system tells nothing of memory', async () => {
    memory = null;
    await visit(site('sg'));
    await clock.advance(5_000);
    expect(await visit(site('sg'))).toBe('1 sg1');
  });
});

test('an idle browser is ended, and started again for the next page', async () => {
  await visit(site('sg'));
  await clock.advance(9_000);
  await visit(site('sg'));
  await clock.advance(9_000);
  expect(did).not.toContain('end 1');
  await clock.advance(2_000);
  expect(did).toEqual(['launch 1', 'open sg1', 'close sg1', 'end 1']);
  expect(await visit(site('sg'))).toBe('2 sg1');
});

test('a launch that fails is told to everyone who waits for it, and tried again by the next', async () => {
  broken.launch = new Fault('browser_missing', 'install it');
  const results = await Promise.allSettled([visit(site('sg')), visit(site('my'))]);
  expect(results.map((result) => result.status === 'rejected' && result.reason.code)).toEqual([
    'browser_missing',
    'browser_missing',
  ]);
  broken = {};
  expect(await visit(site('sg'))).toBe('1 sg1');
});

test('a closed pool ends its browser and opens no page', async () => {
  const long = longVisit(site('sg'));
  await flushTasks();
  await pool.close();
  expect(did).toContain('end 1');
  await expect(visit(site('sg'))).rejects.toMatchObject({ code: 'browser_failed' });
  long.letGo();
  await long.done;
  await pool.close();
  expect(clock.sleepers()).toBe(0);
});

test('a pool that is closed while its browser starts leaves none behind', async () => {
  const { promise: starts, resolve: start } = Promise.withResolvers<void>();
  starting = starts;
  const waiting = visit(site('sg'));
  await flushTasks();
  setImmediate(start);
  await Promise.all([pool.close(), expect(waiting).rejects.toMatchObject({ code: 'browser_failed' })]);
  expect(did).toEqual(['launch 1', 'end 1']);
});
