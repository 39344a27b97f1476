import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createManualClock, flushTasks, type ManualClock } from '../../test/support/clock.ts';
import { createLog } from '../base/log.ts';
import { parseOrigins } from '../base/origins.ts';
import { Fault } from '../contract/fault.ts';
import { policyOfMarket } from '../markets/defaults.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import type { Fetcher } from './http.ts';
import { defaultMarketLimits } from './limits.ts';
import type { PageAnswer, PageRequest } from './page.ts';
import { createPageMemory } from './page-memory.ts';
import { createPolitePages, type PoliteOptions, type PolitePages } from './polite.ts';

const origin = 'http://origin.example';
const shop = 'https://shop.example';
const start = 1_000_000;

let store: Store;
let clock: ManualClock;
/** Requests that were sent: when, and to where. */
let sent: { at: number; url: string; headers: Record<string, string> }[];
/** What the sites answer; by address, else to all. */
let replies: Record<string, Partial<PageAnswer> | Fault>;
let open: number;
let peak: number;
let latencyMs: number;
/** Sessions that were dropped. */
let forgotten: string[];
/** What the watch was told of requests. */
let watched: string[];

const fetcher: Fetcher = {
  originOf: (_market, _region, request) => request.origin ?? origin,
  for: (_market, _region, signal, share) => async (request) => {
    const url = `${request.origin ?? origin}${request.path}`;
    sent.push({ at: clock.now() - start, url, headers: request.headers ?? {} });
    open += 1;
    peak = Math.max(peak, open);
    if (latencyMs > 0) await clock.sleep(latencyMs);
    open -= 1;
    const reply = replies[url] ?? (request.path === '/robots.txt' ? { status: 404 } : (replies['*'] ?? {}));
    if (reply instanceof Fault) throw reply;
    const answer = { status: 200, headers: {}, body: Buffer.alloc(0), url, at: clock.now(), ...reply };
    await share?.reserve(answer.body.length, signal);
    return answer;
  },
  forget: (market, region) => {
    forgotten.push(`${market}/${region}`);
  },
  close: async () => {},
};

function polite(settings: object = {}, options: Partial<PoliteOptions> = {}): PolitePages {
  return createPolitePages({
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
    watch: {
      ended: ({ market, region, ...place }, ms) =>
        watched.push(`${market}/${region} ${place.origin} ${ms} ms`),
      classified: ({ market, region }, sort) => watched.push(`${market}/${region} ${sort}`),
    },
  });
}

/** Runs a call to its end, letting time pass as it needs it. */
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

const get = (pages: PolitePages, request: PageRequest) => run(pages.visit('mkta', 'id').fetch(request));
const pauseAt = async (place: string) => (await store.getPause(place)).until - clock.now();

beforeEach(() => {
  store = openSqliteStore({ path: ':memory:' });
  clock = createManualClock(start);
  sent = [];
  replies = {};
  open = 0;
  peak = 0;
  latencyMs = 0;
  forgotten = [];
  watched = [];
});

afterEach(() => store.close());

describe('pages', () => {
  test('come no faster than the origins file allows, over all processes', async () => {
    const [one, other] = [polite({ requests_per_second: 4 }), polite({ requests_per_second: 4 })];
    const visits = [one, other, one, other, one, other].map((pages) =>
      pages.visit('mkta', 'id').fetch({ path: '/' }),
    );
    await run(Promise.all(visits));
    const times = sent.map(({ at }) => at).toSorted((before, after) => before - after);
    for (const [turn, at] of times.entries()) expect(at).toBeGreaterThanOrEqual(turn * 250);
    expect(times.at(-1)).toBeLessThan(2_500);
  });

  test('come at a default rate and number where it says nothing', async () => {
    const pages = polite({ requests_per_second: undefined });
    await get(pages, { path: '/' });
    await get(pages, { path: '/' });
    expect(sent[1]!.at - sent[0]!.at).toBe(50);
    expect(pages.concurrency('mkta')).toBe(8);
    expect(polite({ concurrency: 3 }).concurrency('mkta')).toBe(3);
  });

  test('are under way so many at once as the origins file allows, over all processes', async () => {
    latencyMs = 300;
    const all = [polite({ concurrency: 3 }), polite({ concurrency: 3 })];
    const visits = Array.from({ length: 40 }, (_, turn) =>
      all[turn % 2]!.visit('mkta', 'id').fetch({ path: `/${turn}` }),
    );
    await run(Promise.all(visits));
    expect(sent).toHaveLength(40);
    expect(peak).toBe(3);
  });

  test('wait as long as an answer with 429 asks, in all processes', async () => {
    const [one, other] = [polite(), polite()];
    replies['*'] = { status: 429, headers: { 'retry-after': '4' } };
    await get(one, { path: '/' });
    replies = {};
    await get(one, { path: '/' });
    await get(other, { path: '/' });
    expect(sent[1]!.at - sent[0]!.at).toBeGreaterThanOrEqual(4_000);
  });

  test('of an origin that is left alone for long are not waited for', async () => {
    const [one, other] = [polite(), polite()];
    replies['*'] = { status: 429, headers: { 'retry-after': '600' } };
    await get(one, { path: '/' });
    for (const pages of [one, other]) {
      await expect(get(pages, { path: '/' })).rejects.toMatchObject({
        code: 'origin_paused',
        message: 'mkta/id: throttled (status 429)',
        retryAfterMs: expect.closeTo(600_000, -4),
      });
    }
    expect(sent).toHaveLength(1);
  });

  test('in the middle of a listing are waited for longer than at its beginning', async () => {
    const pages = polite();
    const listing = pages.visit('mkta', 'id');
    await run(listing.fetch({ path: '/page/1' }));
    replies['*'] = { status: 429, headers: { 'retry-after': '30' } };
    await get(pages, { path: '/other' });
    replies = {};
    await run(listing.fetch({ path: '/page/2' }));
    expect(sent.at(-1)!.at).toBeGreaterThanOrEqual(30_000);
  });

  test('of a store are judged by the store', async () => {
    replies['*'] = { status: 429 };
    await run(polite().visit('mktf', '').fetch({ path: '/', origin: shop }));
    expect(await store.getPause(shop)).toMatchObject({ reason: 'status 429', failures: 1 });
    expect(await store.getPause(origin)).toMatchObject({ failures: 0 });
  });

  test('end with the reason when aborted while they wait', async () => {
    const pages = polite({ requests_per_second: 0.1 });
    await get(pages, { path: '/' });
    const controller = new AbortController();
    const waiting = pages.visit('mkta', 'id', controller.signal).fetch({ path: '/' });
    await flushTasks();
    controller.abort('stop');
    await expect(waiting).rejects.toBe('stop');
    expect(sent).toHaveLength(1);
  });
});

describe('what a visit came to', () => {
  const visit = async (pages: PolitePages, path: string, fault: Fault | null, store?: string) => {
    const { fetch, ended } = store === undefined ? pages.visit('mkta', 'id') : pages.visit('mktf', '');
    await run(fetch({ path, ...(store === undefined ? {} : { origin: store }) }));
    await ended(fault);
  };
  const blocked = new Fault('page_blocked', 'no');

  test('counts for its origin, and for the store that it asked', async () => {
    const pages = polite();
    for (const path of ['/1', '/2']) await visit(pages, path, blocked);
    expect(await pauseAt(origin)).toBe(1_000);
    for (const path of ['/1', '/2']) await visit(pages, path, blocked, shop);
    expect(await pauseAt(shop)).toBe(1_000);
    await visit(
      pages,
      '/1',
      new Fault('page_throttled', 'no', { retryAfterMs: 7_000 }),
      'https://other.example',
    );
    expect(await pauseAt('https://other.example')).toBe(7_000);
  });

  test('is told apart by what was posted to one path', async () => {
    const pages = polite();
    for (const body of ['1', '2']) {
      const { fetch, ended } = pages.visit('mkta', 'id');
      await run(fetch({ path: '/graphql', method: 'POST', body }));
      await ended(blocked);
    }
    expect(await pauseAt(origin)).toBe(1_000);
  });

  test('is well where the reader asks on', async () => {
    const pages = polite();
    await visit(pages, '/1', blocked);
    const { fetch, ended } = pages.visit('mkta', 'id');
    await run(fetch({ path: '/list/1' }));
    await run(fetch({ path: '/list/2' }));
    await ended(blocked);
    expect(await pauseAt(origin)).toBeLessThanOrEqual(0);
  });

  test('counts once where the answer said it already', async () => {
    const pages = polite();
    replies['*'] = { status: 503, headers: { 'retry-after': '2' } };
    await visit(pages, '/1', new Fault('page_throttled', 'no', { retryAfterMs: 2_000 }));
    expect(await store.getPause(origin)).toMatchObject({ failures: 1, reason: 'status 503' });
  });

  test('tells of the origin where no answer came at all', async () => {
    const pages = polite();
    replies['*'] = new Fault('network', 'gone');
    for (let page = 0; page < 5; page += 1) {
      await expect(get(pages, { path: `/${page}` })).rejects.toMatchObject({ code: 'network' });
    }
    expect(await store.getPause(origin)).toMatchObject({ failures: 1, reason: 'network' });
  });

  test('ends the session where it blocked, not where it throttled', async () => {
    const pages = polite();
    await visit(pages, '/1', new Fault('page_throttled', 'no'));
    expect(forgotten).toEqual([]);
    await visit(pages, '/1', blocked);
    await visit(pages, '/1', new Fault('page_login', 'no'));
    expect(forgotten).toEqual(['mkta/id', 'mkta/id']);
  });

  test('is kept, though the others cannot be told', async () => {
    const pages = polite();
    const { fetch, ended } = pages.visit('mkta', 'id');
    await run(fetch({ path: '/' }));
    await store.close();
    await ended(new Fault('page_throttled', 'no', { retryAfterMs: 2_000 }));
    store = openSqliteStore({ path: ':memory:' });
  });
});

describe('robots.txt', () => {
  const rules = (text: string) => ({ body: Buffer.from(text) });
  const read = (pages: PolitePages, path: string, place = shop, more: Partial<PageRequest> = {}) =>
    run(pages.visit('mktf', '').fetch({ path, origin: place, ...more }));

  test('of a store named by a caller is respected, and read once', async () => {
    replies[`${shop}/robots.txt`] = rules('User-agent: *\nDisallow: /private');
    const pages = polite();
    await read(pages, '/products.json');
    await expect(read(pages, '/private/a')).rejects.toMatchObject({
      code: 'robots_disallowed',
      message: `the robots.txt of ${shop} does not allow Gleaner to read /private/a`,
    });
    await read(pages, '/products.json');
    expect(sent.map(({ url }) => url.slice(shop.length))).toEqual([
      '/robots.txt',
      '/products.json',
      '/products.json',
    ]);
  });

  test('of a marketplace is not asked for unless the origins file says so', async () => {
    replies[`${origin}/robots.txt`] = rules('User-agent: gleaner\nDisallow: /');
    await get(polite(), { path: '/' });
    await expect(get(polite({ robots: true }), { path: '/' })).rejects.toMatchObject({
      code: 'robots_disallowed',
    });
    const ask = polite({ robots: false }).visit('mktf', '').fetch({ path: '/', origin: shop });
    await run(ask);
    expect(sent.map(({ url }) => url)).toEqual([`${origin}/`, `${origin}/robots.txt`, `${shop}/`]);
  });

  test('slows requests down to what it asks for', async () => {
    replies[`${shop}/robots.txt`] = rules('User-agent: *\nCrawl-delay: 3');
    const pages = polite();
    for (const path of ['/1', '/2', '/3']) await read(pages, path);
    const [, , second, third] = sent;
    expect(third!.at - second!.at).toBe(3_000);
  });

  test('of where a redirect leads counts there', async () => {
    const other = 'https://other.example';
    replies[`${other}/robots.txt`] = rules('User-agent: *\nDisallow: /');
    replies[`${shop}/`] = { status: 302, headers: { location: `${other}/home` } };
    await expect(read(polite(), '/', shop, { redirects: 'anywhere' })).rejects.toMatchObject({
      code: 'robots_disallowed',
    });
    expect(sent.map(({ url }) => url)).toEqual([`${shop}/robots.txt`, `${shop}/`, `${other}/robots.txt`]);
  });

  test('is read through redirects, and holds for the page that a browser opens', async () => {
    replies[`${shop}/robots.txt`] = {
      status: 301,
      headers: { location: 'https://www.shop.example/robots.txt' },
    };
    replies['https://www.shop.example/robots.txt'] = rules('User-agent: *\nDisallow: /opened');
    const page = { path: '/opened', take: 'response' as const };
    await expect(read(polite(), '/asked', shop, { page })).rejects.toMatchObject({
      message: expect.stringContaining('/opened'),
    });
  });
});

describe('a unit', () => {
  const limitsOf = () => ({ ...defaultMarketLimits, unitBytes: 250, unitMs: 1_000 });
  /** Fetches one page after the other until a fault ends it. */
  const endless = async (pages: PolitePages) => {
    const { fetch, ended } = pages.visit('mkta', 'id');
    for (let page = 1; ; page += 1) {
      try {
        await run(fetch({ path: `/${page}` }));
      } catch (error) {
        await ended(error as Fault);
        return { page, fault: error as Fault };
      }
    }
  };

  test('ends with the page that brings more bytes than its market allows', async () => {
    replies['*'] = { body: Buffer.alloc(100) };
    const { page, fault } = await endless(polite({}, { limitsOf }));
    expect(page).toBe(3);
    expect(fault).toMatchObject({ code: 'page_too_large', retry: 'never' });
    // The next unit begins with nothing.
    expect((await endless(polite({}, { limitsOf }))).page).toBe(3);
  });

  test('ends once its site has taken longer than its market allows, waits of ours left out', async () => {
    latencyMs = 400;
    const began = clock.now();
    const { page, fault } = await endless(polite({ requests_per_second: 0.5 }, { limitsOf }));
    expect(page).toBe(3);
    expect(fault).toMatchObject({ code: 'page_timeout', retry: 'never' });
    expect(clock.now() - began).toBeGreaterThan(4_000);
  });

  test('holds memory for the page that it reads, and none once it has ended', async () => {
    replies['*'] = { body: Buffer.alloc(100) };
    const memory = createPageMemory({ maxBytes: 250, clock });
    const pages = polite({}, { memory });
    const visits = [1, 2, 3].map(() => pages.visit('mkta', 'id'));
    const arrived: number[] = [];
    const fetches = visits.map(({ fetch }, at) => fetch({ path: '/' }).then(() => arrived.push(at)));
    const aWhile = async () => {
      for (let turn = 0; turn < 8; turn += 1) await clock.advance(500);
    };
    await aWhile();
    expect(arrived).toHaveLength(2);
    // Whoever reads on has read the page before, and waits behind the third.
    const next = visits[arrived[0]!]!.fetch({ path: '/next' });
    await aWhile();
    expect(arrived).toHaveLength(3);
    await visits[arrived[1]!]!.ended(null);
    await run(next);
    await Promise.all(fetches);
    for (const { ended } of visits) await ended(null);
    const all = memory.share();
    await run(all.reserve(250));
    expect(all.waitedMs).toBe(0);
  });

  test('does not hold a page while a robots.txt waits for memory', async () => {
    replies['*'] = { body: Buffer.alloc(100) };
    replies[`${shop}/robots.txt`] = { body: Buffer.alloc(100) };
    replies['https://other.example/robots.txt'] = { body: Buffer.alloc(100) };
    const memory = createPageMemory({ maxBytes: 100, clock });
    const { fetch, ended } = polite({}, { memory }).visit('mktf', '');
    await run(fetch({ path: '/products.json', origin: shop }));
    await run(fetch({ path: '/products.json', origin: 'https://other.example' }));
    await ended(null);
    expect(sent).toHaveLength(4);
  });
});

describe('whoever watches requests', () => {
  const reading = async (reply: Partial<PageAnswer> | Fault, fault: Fault | null) => {
    replies['*'] = reply;
    const { fetch, ended } = polite().visit('mkta', 'id');
    await run(fetch({ path: '/' }).catch(() => null));
    await ended(fault);
    return watched;
  };

  test('is told how long they took, and nothing more of those that went well', async () => {
    latencyMs = 150;
    expect(await reading({}, null)).toEqual(['mkta/id http://origin.example 150 ms']);
  });

  test.each([
    ['a status that asks to be left alone', { status: 429 }, null, 'refused'],
    ['a page that the reader found to be a robot check', {}, new Fault('page_blocked', 'robot'), 'refused'],
    ['a login', {}, new Fault('page_login', 'login'), 'refused'],
    ['a page of a site that does not work', { status: 500 }, new Fault('page_failed', '500'), 'failed'],
    ['no answer', new Fault('network', 'reset'), new Fault('network', 'reset'), 'failed'],
  ] as const)('is told once of %s', async (_what, reply, fault, sort) => {
    expect(await reading(reply, fault)).toEqual(['mkta/id http://origin.example 0 ms', `mkta/id ${sort}`]);
  });

  test('is not told of requests that never left', async () => {
    const refused = new Fault('address_refused', 'a private address');
    expect(await reading(refused, refused)).toEqual([]);
  });

  test('is told of every request of a reading, with the origin that it went to', async () => {
    const { fetch, ended } = polite().visit('mktf', '');
    await run(fetch({ path: '/products.json', origin: shop }));
    await ended(null);
    expect(watched).toEqual([`mktf/ ${shop} 0 ms`, `mktf/ ${shop} 0 ms`]);
    expect(sent.map(({ url }) => url)).toEqual([`${shop}/robots.txt`, `${shop}/products.json`]);
  });
});
