import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createManualClock, flushTasks, type ManualClock } from '../../test/support/time/clock.ts';
import { createLog } from '../base/log.ts';
import { parseOrigins } from '../base/origins.ts';
import { Fault } from '../contract/fault.ts';
import { policyOfMarket } from '../markets/lookup.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import type { Fetcher } from './http.ts';
import { defaultMarketLimits } from './limits.ts';
import {
  createOriginScheduler,
  type OriginScheduler,
  type OriginSchedulerOptions,
} from './origin-scheduler.ts';
import type { PageRequest, PageResponse } from './page.ts';
import { createPageMemory } from './page-memory.ts';

const origin = 'http://origin.example';
const shop = 'https://shop.example';
const start = 1_000_000;

let store: Store;
let clock: ManualClock;
/** Requests that were sent. */
let sent: { at: number; url: string; headers: Record<string, string> }[];
/** Responses of the sites by URL; '*' is the default. */
let replies: Record<string, Partial<PageResponse> | Fault>;
let open: number;
let peak: number;
let latencyMs: number;
/** Market and region of discarded sessions. */
let discarded: string[];
/** Calls of the request observer. */
let observed: string[];

const fetcher: Fetcher = {
  originOf: (_market, _region, request) => request.origin ?? origin,
  for: (_market, _region, signal, share) => async (request) => {
    const url = `${request.origin ?? origin}${request.path}`;
    sent.push({ at: clock.now() - start, url, headers: request.headers ?? {} });
    open += 1;
    peak = Math.max(peak, open);
    if (latencyMs > 0) await clock.sleep(latencyMs);
    open -= 1;
    const reply =
      replies[url] ?? (request.path === '/robots.txt' ? { status: 404 } : (replies['*'] ?? {}));
    if (reply instanceof Fault) throw reply;
    const response = {
      status: 200,
      headers: {},
      body: Buffer.alloc(0),
      url,
      at: clock.now(),
      ...reply,
    };
    await share?.reserve(response.body.length, signal);
    return response;
  },
  discardSession: (market, region) => {
    discarded.push(`${market}/${region}`);
  },
  close: async () => {},
};

function newScheduler(
  settings: object = {},
  options: Partial<OriginSchedulerOptions> = {},
): OriginScheduler {
  return createOriginScheduler({
    policyOf: policyOfMarket,
    fetcher,
    origins: parseOrigins(
      JSON.stringify({
        mkta: { id: origin, requests_per_second: 1_000, ...settings },
        mktf: { ...settings },
      }),
    ),
    store,
    clock,
    log: createLog('silent', 'test'),
    userAgent: 'Gleaner/test',
    random: () => 0,
    firstPauseMs: 1_000,
    ...options,
    observer: {
      ended: ({ market, region, ...target }, ms) =>
        observed.push(`${market}/${region} ${target.origin} ${ms} ms`),
      classified: ({ market, region }, kind) => observed.push(`${market}/${region} ${kind}`),
    },
  });
}

/** Awaits a call, advancing the clock as needed. */
async function run<T>(call: Promise<T>): Promise<T> {
  let done = false;
  void call.then(
    () => {
      done = true;
    },
    () => {
      done = true;
    },
  );
  for (let turn = 0; turn < 2_000 && !done; turn += 1) {
    await flushTasks();
    if (!done) await clock.advance(50);
  }
  return call;
}

const get = (scheduler: OriginScheduler, request: PageRequest) =>
  run(scheduler.openSession('mkta', 'id').fetch(request));
const pauseAt = async (place: string) => (await store.origins.getPause(place)).until - clock.now();

beforeEach(() => {
  store = openSqliteStore({ path: ':memory:' });
  clock = createManualClock(start);
  sent = [];
  replies = {};
  open = 0;
  peak = 0;
  latencyMs = 0;
  discarded = [];
  observed = [];
});

afterEach(() => store.close());

describe('fetch()', () => {
  test('obeys the rate limit of the origins file over all processes', async () => {
    const [one, other] = [
      newScheduler({ requests_per_second: 4 }),
      newScheduler({ requests_per_second: 4 }),
    ];
    const sessions = [one, other, one, other, one, other].map((scheduler) =>
      scheduler.openSession('mkta', 'id').fetch({ path: '/' }),
    );
    await run(Promise.all(sessions));
    const times = sent.map(({ at }) => at).toSorted((before, after) => before - after);
    for (const [turn, at] of times.entries()) expect(at).toBeGreaterThanOrEqual(turn * 250);
    expect(times.at(-1)).toBeLessThan(2_500);
  });

  test('obeys the default rate limit and concurrency', async () => {
    const scheduler = newScheduler({ requests_per_second: undefined });
    await get(scheduler, { path: '/' });
    await get(scheduler, { path: '/' });
    expect(sent[1]!.at - sent[0]!.at).toBe(50);
    expect(scheduler.concurrency('mkta', 'sg')).toBe(8);
    expect(newScheduler({ concurrency: 3 }).concurrency('mkta', 'sg')).toBe(3);
  });

  test('obeys a changed policy of a region without a restart', async () => {
    const policies = {
      fast: { concurrency: 4, requestsPerSecond: 10 },
      slow: { requestsPerSecond: 2 },
    };
    let policy: object = policies.fast;
    const scheduler = newScheduler({ requests_per_second: undefined }, { policyOf: () => policy });
    for (let page = 0; page < 2; page += 1) await get(scheduler, { path: '/' });
    policy = policies.slow;
    expect(scheduler.concurrency('mkta', 'sg')).toBe(8);
    for (let page = 0; page < 3; page += 1) await get(scheduler, { path: '/' });
    const [first, second, , fourth, fifth] = sent.map(({ at }) => at);
    expect([second! - first!, fifth! - fourth!]).toEqual([100, 500]);
  });

  test('sends requests for a named origin to the address of the region, if the file has one', async () => {
    const request = {
      path: '/p/1',
      origin: 'https://shop.example',
      redirects: 'anywhere',
    } as const;
    const response = await get(newScheduler(), request);
    expect(sent.map(({ url }) => url)).toEqual([`${origin}/p/1`]);
    expect(response.url).toBe('https://shop.example/p/1');
  });

  test('obeys the concurrency of the origins file over all processes', async () => {
    latencyMs = 300;
    const all = [newScheduler({ concurrency: 3 }), newScheduler({ concurrency: 3 })];
    const sessions = Array.from({ length: 40 }, (_, turn) =>
      all[turn % 2]!.openSession('mkta', 'id').fetch({ path: `/${turn}` }),
    );
    await run(Promise.all(sessions));
    expect(sent).toHaveLength(40);
    expect(peak).toBe(3);
  });

  test('waits as long as a response with status 429 asks, in all processes', async () => {
    const [one, other] = [newScheduler(), newScheduler()];
    replies['*'] = { status: 429, headers: { 'retry-after': '4' } };
    await get(one, { path: '/' });
    replies = {};
    await get(one, { path: '/' });
    await get(other, { path: '/' });
    expect(sent[1]!.at - sent[0]!.at).toBeGreaterThanOrEqual(4_000);
  });

  test('rejects while an origin is paused for longer than the maximum wait', async () => {
    const [one, other] = [newScheduler(), newScheduler()];
    replies['*'] = { status: 429, headers: { 'retry-after': '600' } };
    await get(one, { path: '/' });
    for (const scheduler of [one, other]) {
      await expect(get(scheduler, { path: '/' })).rejects.toMatchObject({
        code: 'origin_paused',
        message: 'mkta/id: throttled (status 429)',
        retryAfterMs: expect.closeTo(600_000, -4),
      });
    }
    expect(sent).toHaveLength(1);
  });

  test('waits longer for a paused origin after the first page', async () => {
    const scheduler = newScheduler();
    const listing = scheduler.openSession('mkta', 'id');
    await run(listing.fetch({ path: '/page/1' }));
    replies['*'] = { status: 429, headers: { 'retry-after': '30' } };
    await get(scheduler, { path: '/other' });
    replies = {};
    await run(listing.fetch({ path: '/page/2' }));
    expect(sent.at(-1)!.at).toBeGreaterThanOrEqual(30_000);
  });

  test('pauses stores separately', async () => {
    replies['*'] = { status: 429 };
    await run(newScheduler().openSession('mktf', '').fetch({ path: '/', origin: shop }));
    expect(await store.origins.getPause(shop)).toMatchObject({ reason: 'status 429', failures: 1 });
    expect(await store.origins.getPause(origin)).toMatchObject({ failures: 0 });
  });

  test('rejects with the reason of a signal that is aborted while it waits', async () => {
    const scheduler = newScheduler({ requests_per_second: 0.1 });
    await get(scheduler, { path: '/' });
    const controller = new AbortController();
    const waiting = scheduler.openSession('mkta', 'id', controller.signal).fetch({ path: '/' });
    await flushTasks();
    controller.abort('stop');
    await expect(waiting).rejects.toBe('stop');
    expect(sent).toHaveLength(1);
  });
});

describe('end()', () => {
  const readPage = async (
    scheduler: OriginScheduler,
    path: string,
    fault: Fault | null,
    store?: string,
  ) => {
    const { fetch, end } =
      store === undefined ? scheduler.openSession('mkta', 'id') : scheduler.openSession('mktf', '');
    await run(fetch({ path, ...(store === undefined ? {} : { origin: store }) }));
    await end(fault);
  };
  const blocked = new Fault('page_blocked', 'no');

  test('pauses the origin or store of the session', async () => {
    const scheduler = newScheduler();
    for (const path of ['/1', '/2']) await readPage(scheduler, path, blocked);
    expect(await pauseAt(origin)).toBe(1_000);
    for (const path of ['/1', '/2']) await readPage(scheduler, path, blocked, shop);
    expect(await pauseAt(shop)).toBe(1_000);
    await readPage(
      scheduler,
      '/1',
      new Fault('page_throttled', 'no', { retryAfterMs: 7_000 }),
      'https://other.example',
    );
    expect(await pauseAt('https://other.example')).toBe(7_000);
  });

  test('distinguishes pages of one path by their request body', async () => {
    const scheduler = newScheduler();
    for (const body of ['1', '2']) {
      const { fetch, end } = scheduler.openSession('mkta', 'id');
      await run(fetch({ path: '/graphql', method: 'POST', body }));
      await end(blocked);
    }
    expect(await pauseAt(origin)).toBe(1_000);
  });

  test('counts earlier pages of the session as successful', async () => {
    const scheduler = newScheduler();
    await readPage(scheduler, '/1', blocked);
    const { fetch, end } = scheduler.openSession('mkta', 'id');
    await run(fetch({ path: '/list/1' }));
    await run(fetch({ path: '/list/2' }));
    await end(blocked);
    expect(await pauseAt(origin)).toBeLessThanOrEqual(0);
  });

  test('counts a refusal once if the status already indicated it', async () => {
    const scheduler = newScheduler();
    replies['*'] = { status: 503, headers: { 'retry-after': '2' } };
    await readPage(scheduler, '/1', new Fault('page_throttled', 'no', { retryAfterMs: 2_000 }));
    expect(await store.origins.getPause(origin)).toMatchObject({
      failures: 1,
      reason: 'status 503',
    });
  });

  test('pauses an origin that does not respond', async () => {
    const scheduler = newScheduler();
    replies['*'] = new Fault('network', 'gone');
    for (let page = 0; page < 5; page += 1) {
      await expect(get(scheduler, { path: `/${page}` })).rejects.toMatchObject({ code: 'network' });
    }
    expect(await store.origins.getPause(origin)).toMatchObject({ failures: 1, reason: 'network' });
  });

  test('discards the cookies of a blocked session, but not of a throttled one', async () => {
    const scheduler = newScheduler();
    await readPage(scheduler, '/1', new Fault('page_throttled', 'no'));
    expect(discarded).toEqual([]);
    await readPage(scheduler, '/1', blocked);
    await readPage(scheduler, '/1', new Fault('page_login', 'no'));
    expect(discarded).toEqual(['mkta/id', 'mkta/id']);
  });

  test('resolves even if the store is unavailable', async () => {
    const scheduler = newScheduler();
    const { fetch, end } = scheduler.openSession('mkta', 'id');
    await run(fetch({ path: '/' }));
    await store.close();
    await end(new Fault('page_throttled', 'no', { retryAfterMs: 2_000 }));
    store = openSqliteStore({ path: ':memory:' });
  });
});

describe('robots.txt', () => {
  const rules = (text: string) => ({ body: Buffer.from(text) });
  const read = (
    scheduler: OriginScheduler,
    path: string,
    place = shop,
    more: Partial<PageRequest> = {},
  ) => run(scheduler.openSession('mktf', '').fetch({ path, origin: place, ...more }));

  test('is obeyed for stores named by callers, and fetched once', async () => {
    replies[`${shop}/robots.txt`] = rules('User-agent: *\nDisallow: /private');
    const scheduler = newScheduler();
    await read(scheduler, '/products.json');
    await expect(read(scheduler, '/private/a')).rejects.toMatchObject({
      code: 'robots_disallowed',
      message: `the robots.txt of ${shop} does not allow Gleaner to read /private/a`,
    });
    await read(scheduler, '/products.json');
    expect(sent.map(({ url }) => url.slice(shop.length))).toEqual([
      '/robots.txt',
      '/products.json',
      '/products.json',
    ]);
  });

  test('is ignored for marketplaces unless the origins file enables it', async () => {
    replies[`${origin}/robots.txt`] = rules('User-agent: gleaner\nDisallow: /');
    await get(newScheduler(), { path: '/' });
    await expect(get(newScheduler({ robots: true }), { path: '/' })).rejects.toMatchObject({
      code: 'robots_disallowed',
    });
    const reading = newScheduler({ robots: false })
      .openSession('mktf', '')
      .fetch({ path: '/', origin: shop });
    await run(reading);
    expect(sent.map(({ url }) => url)).toEqual([`${origin}/`, `${origin}/robots.txt`, `${shop}/`]);
  });

  test('slows requests down to its crawl delay', async () => {
    replies[`${shop}/robots.txt`] = rules('User-agent: *\nCrawl-delay: 3');
    const scheduler = newScheduler();
    for (const path of ['/1', '/2', '/3']) await read(scheduler, path);
    const [, , second, third] = sent;
    expect(third!.at - second!.at).toBe(3_000);
  });

  test('applies to the target of a redirect', async () => {
    const other = 'https://other.example';
    replies[`${other}/robots.txt`] = rules('User-agent: *\nDisallow: /');
    replies[`${shop}/`] = { status: 302, headers: { location: `${other}/home` } };
    await expect(read(newScheduler(), '/', shop, { redirects: 'anywhere' })).rejects.toMatchObject({
      code: 'robots_disallowed',
    });
    expect(sent.map(({ url }) => url)).toEqual([
      `${shop}/robots.txt`,
      `${shop}/`,
      `${other}/robots.txt`,
    ]);
  });

  test.each([
    [5, false],
    [6, true],
  ])(
    'is fetched through redirects of an origin of the configuration to other sites: %d redirects',
    async (count, isAllowed) => {
      const site = (hop: number) => (hop === 0 ? origin : `https://hop${hop}.example`);
      for (let hop = 0; hop < count; hop += 1)
        replies[`${site(hop)}/robots.txt`] = {
          status: 302,
          headers: { location: `${site(hop + 1)}/robots.txt` },
        };
      replies[`${site(count)}/robots.txt`] = rules('User-agent: *\nDisallow: /private');
      const scheduler = newScheduler({ robots: true });
      await get(scheduler, { path: '/public' });
      const reading = get(scheduler, { path: '/private' });
      if (isAllowed) await reading;
      else
        await expect(reading).rejects.toMatchObject({
          code: 'robots_disallowed',
          message: expect.stringContaining(origin),
        });
      expect(sent.filter(({ url }) => url.endsWith('/robots.txt'))).toHaveLength(6);
    },
  );

  test('is fetched through redirects, and applies to the page that a browser loads', async () => {
    replies[`${shop}/robots.txt`] = {
      status: 301,
      headers: { location: 'https://www.shop.example/robots.txt' },
    };
    replies['https://www.shop.example/robots.txt'] = rules('User-agent: *\nDisallow: /loaded');
    const page = { path: '/loaded', take: 'response' as const };
    await expect(read(newScheduler(), '/requested', shop, { page })).rejects.toMatchObject({
      message: expect.stringContaining('/loaded'),
    });
  });
});

describe('a session', () => {
  const limitsOf = () => ({ ...defaultMarketLimits, unitBytes: 250, unitMs: 1_000 });
  /** Fetches pages until one fails. */
  const endless = async (scheduler: OriginScheduler) => {
    const { fetch, end } = scheduler.openSession('mkta', 'id');
    for (let page = 1; ; page += 1) {
      try {
        await run(fetch({ path: `/${page}` }));
      } catch (error) {
        await end(error as Fault);
        return { page, fault: error as Fault };
      }
    }
  };

  test('fails once its pages exceed the byte limit of the market', async () => {
    replies['*'] = { body: Buffer.alloc(100) };
    const { page, fault } = await endless(newScheduler({}, { limitsOf }));
    expect(page).toBe(3);
    expect(fault).toMatchObject({ code: 'page_too_large', retry: 'never' });
    // The usage of another session starts at zero.
    expect((await endless(newScheduler({}, { limitsOf }))).page).toBe(3);
  });

  test('fails once its requests exceed the time limit of the market, excluding rate limit waits', async () => {
    latencyMs = 400;
    const began = clock.now();
    const { page, fault } = await endless(newScheduler({ requests_per_second: 0.5 }, { limitsOf }));
    expect(page).toBe(3);
    expect(fault).toMatchObject({ code: 'page_timeout', retry: 'never' });
    expect(clock.now() - began).toBeGreaterThan(4_000);
  });

  test('reserves memory for its current page, and releases it at the end', async () => {
    replies['*'] = { body: Buffer.alloc(100) };
    const memory = createPageMemory({ maxBytes: 250, clock });
    const scheduler = newScheduler({}, { memory });
    const sessions = [1, 2, 3].map(() => scheduler.openSession('mkta', 'id'));
    const arrived: number[] = [];
    const fetches = sessions.map(({ fetch }, at) =>
      fetch({ path: '/' }).then(() => arrived.push(at)),
    );
    const aWhile = async () => {
      for (let turn = 0; turn < 8; turn += 1) await clock.advance(500);
    };
    await aWhile();
    expect(arrived).toHaveLength(2);
    // A session that fetches its next page releases the previous one, and waits behind the third
    // session.
    const next = sessions[arrived[0]!]!.fetch({ path: '/next' });
    await aWhile();
    expect(arrived).toHaveLength(3);
    await sessions[arrived[1]!]!.end(null);
    await run(next);
    await Promise.all(fetches);
    for (const { end } of sessions) await end(null);
    const all = memory.share();
    await run(all.reserve(250));
    expect(all.waitedMs).toBe(0);
  });

  test('releases its page before it fetches a robots.txt', async () => {
    replies['*'] = { body: Buffer.alloc(100) };
    replies[`${shop}/robots.txt`] = { body: Buffer.alloc(100) };
    replies['https://other.example/robots.txt'] = { body: Buffer.alloc(100) };
    const memory = createPageMemory({ maxBytes: 100, clock });
    const { fetch, end } = newScheduler({}, { memory }).openSession('mktf', '');
    await run(fetch({ path: '/products.json', origin: shop }));
    await run(fetch({ path: '/products.json', origin: 'https://other.example' }));
    await end(null);
    expect(sent).toHaveLength(4);
  });
});

describe('the request observer', () => {
  const observe = async (reply: Partial<PageResponse> | Fault, fault: Fault | null) => {
    replies['*'] = reply;
    const { fetch, end } = newScheduler().openSession('mkta', 'id');
    await run(fetch({ path: '/' }).catch(() => null));
    await end(fault);
    return observed;
  };

  test('receives the duration of successful requests', async () => {
    latencyMs = 150;
    expect(await observe({}, null)).toEqual([
      'mkta/id http://origin.example 150 ms',
      'mkta/id succeeded',
    ]);
  });

  test.each([
    ['a status for throttling', { status: 429 }, null, 'refused'],
    ['a robot check detected by the reader', {}, new Fault('page_blocked', 'robot'), 'refused'],
    ['a login', {}, new Fault('page_login', 'login'), 'refused'],
    ['a server error', { status: 500 }, new Fault('page_failed', '500'), 'failed'],
    ['no response', new Fault('network', 'reset'), new Fault('network', 'reset'), 'failed'],
  ] as const)('receives one classification of %s', async (_what, reply, fault, kind) => {
    expect(await observe(reply, fault)).toEqual([
      'mkta/id http://origin.example 0 ms',
      `mkta/id ${kind}`,
    ]);
  });

  test('receives nothing for requests that were not sent', async () => {
    const refused = new Fault('address_refused', 'a private address');
    expect(await observe(refused, refused)).toEqual([]);
  });

  test('receives every request of a session with its origin, including robots.txt', async () => {
    const { fetch, end } = newScheduler().openSession('mktf', '');
    await run(fetch({ path: '/products.json', origin: shop }));
    await end(null);
    expect(observed).toEqual(
      Array(2)
        .fill([`mktf/ ${shop} 0 ms`, 'mktf/ succeeded'])
        .flat(),
    );
    expect(sent.map(({ url }) => url)).toEqual([`${shop}/robots.txt`, `${shop}/products.json`]);
  });
});
