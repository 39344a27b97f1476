import { beforeEach, expect, test } from 'vitest';
import { Fault } from '../contract/fault.ts';
import type { PageResponse } from './page.ts';
import { createRobots, robotName } from './robots.ts';

const origin = 'https://shop.example';
const hourMs = 3_600_000;
let now: number;
let reads: number;
const clock = { now: () => now, steady: () => now, sleep: async () => {} };

beforeEach(() => {
  now = 1_000_000;
  reads = 0;
});

const robots = () => createRobots({ clock, userAgent: 'Gleaner/1.0 (test)' });
const responding =
  (status: number, body = '', headers: Record<string, string> = {}) =>
  async (): Promise<PageResponse> => {
    reads += 1;
    return { status, headers, body: Buffer.from(body), url: `${origin}/robots.txt`, at: now };
  };
const disallowing = responding(200, 'User-agent: *\nDisallow: /no');

test('check() fetches a robots.txt once a day', async () => {
  const { check } = robots();
  for (let hour = 0; hour < 24; hour += 1) {
    await check(origin, '/yes', disallowing);
    await expect(check(origin, '/no', disallowing)).rejects.toMatchObject({
      code: 'robots_disallowed',
    });
    now += hourMs;
  }
  expect(reads).toBe(1);
  await check(origin, '/no', responding(200, ''));
  expect(reads).toBe(2);
});

test('check() fetches a robots.txt once for concurrent calls, and separately for each origin', async () => {
  const { check } = robots();
  await Promise.all(Array.from({ length: 10 }, () => check(origin, '/yes', disallowing)));
  await check(`${origin}:8443`, '/no', responding(404));
  expect(reads).toBe(2);
});

test.each([400, 401, 403, 404, 410, 301])(
  'status %d of a robots.txt allows everything',
  async (status) => {
    await robots().check(origin, '/no', responding(status, 'User-agent: *\nDisallow: /'));
  },
);

test.each([500, 502, 503, 429])(
  'status %d of a robots.txt disallows everything until it is fetched again',
  async (status) => {
    const { check } = robots();
    const failing = responding(status);
    for (let turn = 0; turn < 3; turn += 1) {
      await expect(check(origin, '/yes', failing)).rejects.toMatchObject({
        code: 'page_failed',
        message: expect.stringContaining(`status ${status} to the request for its robots.txt`),
        retryAfterMs: 60_000,
      });
    }
    expect(reads).toBe(1);
    now += 60_000;
    await check(origin, '/yes', disallowing);
    expect(reads).toBe(2);
  },
);

test('check() waits longer if the site asks for it', async () => {
  await expect(
    robots().check(origin, '/', responding(503, '', { 'retry-after': '300' })),
  ).rejects.toMatchObject({
    retryAfterMs: 300_000,
  });
});

test('check() uses the expired rules while the site fails', async () => {
  const { check } = robots();
  await check(origin, '/yes', disallowing);
  now += 25 * hourMs;
  await expect(check(origin, '/no', responding(500))).rejects.toMatchObject({
    code: 'robots_disallowed',
  });
  now += hourMs;
  const gone = async () => {
    reads += 1;
    throw new Fault('network', 'gone');
  };
  await check(origin, '/yes', gone);
  await check(origin, '/yes', gone);
  expect(reads).toBe(3);
});

test('check() rejects with the fault of a failed fetch, and fetches again for the next call', async () => {
  const { check } = robots();
  const gone = async () => {
    throw new Fault('network', 'gone');
  };
  await expect(check(origin, '/yes', gone)).rejects.toMatchObject({ code: 'network' });
  await check(origin, '/yes', disallowing);
});

test('check() rejects with the reason of an aborted signal, without affecting other calls', async () => {
  const { check } = robots();
  const { promise, resolve } = Promise.withResolvers<PageResponse>();
  const controller = new AbortController();
  const [one, other] = [
    check(origin, '/yes', () => promise, controller.signal),
    check(origin, '/yes', () => promise),
  ];
  controller.abort('stop');
  await expect(one).rejects.toBe('stop');
  resolve(await disallowing());
  await other;
});

test('check() reads nothing for a signal that is aborted already', async () => {
  const { check } = robots();
  await expect(check(origin, '/yes', disallowing, AbortSignal.abort('stop'))).rejects.toBe('stop');
  expect(reads).toBe(0);
});

test('check() returns the crawl delay, up to 30 seconds', async () => {
  const { check } = robots();
  expect(await check(origin, '/', responding(200, 'User-agent: *\nCrawl-delay: 2'))).toBe(2_000);
  expect(
    await check('https://b.example', '/', responding(200, 'User-agent: *\nCrawl-delay: 600')),
  ).toBe(30_000);
  expect(await check('https://c.example', '/', responding(404))).toBeUndefined();
});

test.each([
  ['Gleaner/0.1 (self-hosted)', 'Gleaner'],
  ['my-bot_x 2', 'my-bot_x'],
  ['', '*'],
  ['1bot', '*'],
])('robotName() returns the name in %j: %s', (userAgent, name) => {
  expect(robotName(userAgent)).toBe(name);
});

test('createRobots() evicts files when their rules exceed the memory limit', async () => {
  const { check } = robots();
  const rules = `Disallow: /no/${'x'.repeat(200)}\n`.repeat(2_000);
  const large = responding(200, `User-agent: *\n${rules}`);
  const site = (at: number) => `https://shop${at}.example`;
  for (let at = 0; at < 40; at += 1) await check(site(at), '/yes', large);
  await check(site(39), '/yes', large);
  expect(reads).toBe(40);
  await check(site(0), '/yes', large);
  expect(reads).toBe(41);
});
