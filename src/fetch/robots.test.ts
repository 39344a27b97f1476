import { beforeEach, expect, test } from 'vitest';
import { Fault } from '../contract/fault.ts';
import type { PageAnswer } from './page.ts';
import { createRobots, robotName } from './robots.ts';

const origin = 'https://shop.example';
const hourMs = 3_600_000;
let now: number;
let reads: number;
const clock = { now: () => now, sleep: async () => {} };

beforeEach(() => {
  now = 1_000_000;
  reads = 0;
});

const robots = () => createRobots({ clock, userAgent: 'Gleaner/1.0 (test)' });
const answering =
  (status: number, body = '', headers: Record<string, string> = {}) =>
  async (): Promise<PageAnswer> => {
    reads += 1;
    return { status, headers, body: Buffer.from(body), url: `${origin}/robots.txt`, at: now };
  };
const forbids = answering(200, 'User-agent: *\nDisallow: /no');

test('is read once a day', async () => {
  const { check } = robots();
  for (let hour = 0; hour < 24; hour += 1) {
    await check(origin, '/yes', forbids);
    await expect(check(origin, '/no', forbids)).rejects.toMatchObject({ code: 'robots_disallowed' });
    now += hourMs;
  }
  expect(reads).toBe(1);
  await check(origin, '/no', answering(200, ''));
  expect(reads).toBe(2);
});

test('is read once for many that ask at once, for each origin by itself', async () => {
  const { check } = robots();
  await Promise.all(Array.from({ length: 10 }, () => check(origin, '/yes', forbids)));
  await check(`${origin}:8443`, '/no', answering(404));
  expect(reads).toBe(2);
});

test.each([400, 401, 403, 404, 410, 301])('status %d allows everything', async (status) => {
  await robots().check(origin, '/no', answering(status, 'User-agent: *\nDisallow: /'));
});

test.each([500, 502, 503, 429])('status %d allows nothing for a while', async (status) => {
  const { check } = robots();
  const failing = answering(status);
  for (let turn = 0; turn < 3; turn += 1) {
    await expect(check(origin, '/yes', failing)).rejects.toMatchObject({
      code: 'page_failed',
      message: expect.stringContaining(`${status} for its robots.txt`),
      retryAfterMs: 60_000,
    });
  }
  expect(reads).toBe(1);
  now += 60_000;
  await check(origin, '/yes', forbids);
  expect(reads).toBe(2);
});

test('a longer wait that the site asks for is kept', async () => {
  await expect(
    robots().check(origin, '/', answering(503, '', { 'retry-after': '300' })),
  ).rejects.toMatchObject({
    retryAfterMs: 300_000,
  });
});

test('what it said before stands while the site fails', async () => {
  const { check } = robots();
  await check(origin, '/yes', forbids);
  now += 25 * hourMs;
  await expect(check(origin, '/no', answering(500))).rejects.toMatchObject({ code: 'robots_disallowed' });
  now += hourMs;
  const gone = async () => {
    reads += 1;
    throw new Fault('network', 'gone');
  };
  await check(origin, '/yes', gone);
  await check(origin, '/yes', gone);
  expect(reads).toBe(3);
});

test('what keeps it from being read is told, and it is read again', async () => {
  const { check } = robots();
  const gone = async () => {
    throw new Fault('network', 'gone');
  };
  await expect(check(origin, '/yes', gone)).rejects.toMatchObject({ code: 'network' });
  await check(origin, '/yes', forbids);
});

test('a wait for it ends with the reason when aborted, for that one alone', async () => {
  const { check } = robots();
  const { promise, resolve } = Promise.withResolvers<PageAnswer>();
  const controller = new AbortController();
  const [one, other] = [
    check(origin, '/yes', () => promise, controller.signal),
    check(origin, '/yes', () => promise),
  ];
  controller.abort('stop');
  await expect(one).rejects.toBe('stop');
  resolve(await forbids());
  await other;
});

test('tells the wait between requests that it asks for, up to half a minute', async () => {
  const { check } = robots();
  expect(await check(origin, '/', answering(200, 'User-agent: *\nCrawl-delay: 2'))).toBe(2_000);
  expect(await check('https://b.example', '/', answering(200, 'User-agent: *\nCrawl-delay: 600'))).toBe(
    30_000,
  );
  expect(await check('https://c.example', '/', answering(404))).toBeUndefined();
});

test.each([
  ['Gleaner/0.1 (self-hosted)', 'Gleaner'],
  ['my-bot_x 2', 'my-bot_x'],
  ['', '*'],
  ['1bot', '*'],
])('of %j the robot is %s', (userAgent, name) => {
  expect(robotName(userAgent)).toBe(name);
});

test('files are forgotten when their rules take too much memory', async () => {
  const { check } = robots();
  const rules = `Disallow: /no/${'x'.repeat(200)}\n`.repeat(2_000);
  const large = answering(200, `User-agent: *\n${rules}`);
  const site = (at: number) => `https://shop${at}.example`;
  for (let at = 0; at < 40; at += 1) await check(site(at), '/yes', large);
  await check(site(39), '/yes', large);
  expect(reads).toBe(40);
  await check(site(0), '/yes', large);
  expect(reads).toBe(41);
});
