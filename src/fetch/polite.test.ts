import { beforeEach, describe, expect, test } from 'vitest';
import { Fault } from '../base/fault.ts';
import { createLog } from '../base/log.ts';
import { parseOrigins } from '../base/origins.ts';
import { createGate } from './gate.ts';
import type { Fetcher } from './http.ts';
import type { PageAnswer } from './page.ts';
import { createPolitePages, type PolitePages } from './polite.ts';
import { createTurns } from './slots.ts';

const origin = 'http://origin.example';

let now: number;
/** Times at which requests were sent. */
let sent: number[];
let reserved: { slots: number; at: number }[];
let pauses: { origin: string; ms: number; reason: string }[];
let free: number;
let reply: Partial<PageAnswer>;
/** Sessions that were dropped. */
let forgotten: string[];

const clock = {
  now: () => now,
  sleep: async (ms: number, signal?: AbortSignal) => {
    signal?.throwIfAborted();
    now += ms;
  },
};

const reserve = async (_origin: string, slots: number, intervalMs: number, at: number) => {
  reserved.push({ slots, at });
  const first = Math.max(free, at);
  free = first + slots * intervalMs;
  return first;
};

const fetcher: Fetcher = {
  originOf: (_market, _region, request) => request.origin ?? origin,
  for: () => async () => {
    sent.push(now);
    return { status: 200, headers: {}, body: Buffer.alloc(0), url: '', at: now, ...reply };
  },
  forget: (market, region) => {
    forgotten.push(`${market}/${region}`);
  },
  close: async () => {},
};

function polite(settings: object): PolitePages {
  return createPolitePages({
    fetcher,
    origins: parseOrigins(JSON.stringify({ mkta: { id: origin, ...settings } })),
    reserve,
    pause: async (paused, until, reason) => {
      pauses.push({ origin: paused, ms: until - now, reason });
      free = Math.max(free, until);
    },
    clock,
    log: createLog('silent', 'test'),
    random: () => 0,
    firstPauseMs: 1000,
  });
}

beforeEach(() => {
  now = 1_000_000;
  sent = [];
  reserved = [];
  pauses = [];
  free = 0;
  reply = {};
  forgotten = [];
});

describe('turns', () => {
  test('are the interval apart, and reserved in growing chunks of at most a second', async () => {
    const turns = createTurns(origin, 100, reserve, clock);
    const times: number[] = [];
    for (let turn = 0; turn < 30; turn += 1) {
      await turns.take();
      times.push(now);
    }
    expect(times.map((time) => time - 1_000_000)).toEqual(
      Array.from({ length: 30 }, (_, turn) => turn * 100),
    );
    expect(reserved.map(({ slots }) => slots)).toEqual([1, 2, 4, 8, 10, 10]);
  });

  test('that were missed are not made up for', async () => {
    const turns = createTurns(origin, 100, reserve, clock);
    for (let turn = 0; turn < 4; turn += 1) await turns.take();
    now += 60_000;
    const before = reserved.length;
    await turns.take();
    const first = now;
    await turns.take();
    expect(now - first).toBeGreaterThanOrEqual(100);
    expect(reserved[before]).toMatchObject({ slots: 2 });
  });

  test('asked for at once share one reservation after the other', async () => {
    const turns = createTurns(origin, 10, reserve, clock);
    await Promise.all(Array.from({ length: 7 }, () => turns.take()));
    expect(reserved.map(({ slots }) => slots)).toEqual([1, 2, 4]);
  });

  test('reject with the reason when aborted', async () => {
    const turns = createTurns(origin, 1000, reserve, clock);
    const reason = new Error('stop');
    await turns.take();
    await expect(turns.take(AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});

describe('the gate', () => {
  test('lets so many in, then one for each that leaves, in order', async () => {
    const gate = createGate(2);
    const order: number[] = [];
    const [first, second] = await Promise.all([gate.enter(), gate.enter()]);
    const later = [3, 4].map(async (name) => {
      const leave = await gate.enter();
      order.push(name);
      return leave;
    });
    expect(gate.busy).toBe(4);
    first();
    first();
    (await later[0]!)();
    await later[1];
    second();
    expect(order).toEqual([3, 4]);
    expect(gate.busy).toBe(1);
  });

  test('forgets who gave up waiting', async () => {
    const gate = createGate(1);
    const leave = await gate.enter();
    const controller = new AbortController();
    const waiting = gate.enter(controller.signal);
    controller.abort('stop');
    await expect(waiting).rejects.toBe('stop');
    leave();
    expect(gate.busy).toBe(0);
  });
});

describe('pages', () => {
  test('come no faster than the origins file allows', async () => {
    const page = polite({ requests_per_second: 4 }).fetcher('mkta', 'id');
    for (let count = 0; count < 5; count += 1) await page({ path: '/' });
    expect(sent.map((time) => time - 1_000_000)).toEqual([0, 250, 500, 750, 1000]);
  });

  test('come at a default rate where it says nothing', async () => {
    const page = polite({}).fetcher('mkta', 'id');
    await page({ path: '/' });
    await page({ path: '/' });
    expect(sent[1]! - sent[0]!).toBe(50);
    expect(polite({}).concurrency('mkta')).toBe(8);
    expect(polite({ concurrency: 3 }).concurrency('mkta')).toBe(3);
  });

  test('wait as long as an answer with 429 asks', async () => {
    const page = polite({ requests_per_second: 1000 }).fetcher('mkta', 'id');
    reply = { status: 429, headers: { 'retry-after': '30' } };
    await page({ path: '/' });
    reply = {};
    await page({ path: '/' });
    expect(pauses).toEqual([{ origin, ms: 30_000, reason: 'status 429' }]);
    expect(sent[1]! - sent[0]!).toBeGreaterThanOrEqual(30_000);
  });

  test('of a store wait by its own address', async () => {
    const page = polite({}).fetcher('mktf', '');
    reply = { status: 429 };
    await page({ path: '/', origin: 'https://store.example' });
    expect(pauses).toMatchObject([{ origin: 'https://store.example', ms: 1000 }]);
  });
});

describe('a refusal noted by a reader', () => {
  const blocked = new Fault('page_blocked', 'no');

  test('pauses the origin longer each time, up to 15 minutes', async () => {
    const pages = polite({});
    for (let refusal = 0; refusal < 12; refusal += 1) {
      await pages.note('mkta', 'id', blocked);
      now += 20 * 60_000;
    }
    expect(pauses.map(({ ms }) => ms / 1000)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
  });

  test('counts once while the pause lasts, unless it asks for more', async () => {
    const pages = polite({});
    await pages.note('mkta', 'id', blocked);
    await pages.note('mkta', 'id', blocked);
    await pages.note('mkta', 'id', new Fault('page_throttled', 'no', { retryAfterMs: 5000 }));
    expect(pauses.map(({ ms }) => ms)).toEqual([1000, 5000]);
  });

  test('does not add up when answers came between', async () => {
    const pages = polite({ requests_per_second: 1000 });
    const page = pages.fetcher('mkta', 'id');
    for (let refusal = 0; refusal < 3; refusal += 1) {
      for (let count = 0; count < 10; count += 1) await page({ path: '/' });
      await pages.note('mkta', 'id', blocked);
    }
    expect(pauses.map(({ ms }) => ms)).toEqual([1000, 1000, 1000]);
  });

  test('ends the session where it blocked, not where it throttled', async () => {
    const pages = polite({});
    await pages.note('mkta', 'id', new Fault('page_throttled', 'no'));
    expect(forgotten).toEqual([]);
    await pages.note('mkta', 'id', blocked);
    expect(forgotten).toEqual(['mkta/id']);
  });

  test('is the only fault that pauses', async () => {
    const pages = polite({});
    for (const code of ['page_not_found', 'page_failed', 'network', 'page_mismatch'] as const) {
      await pages.note('mkta', 'id', new Fault(code, 'x'));
    }
    await pages.note('mktz', 'id', blocked);
    expect(pauses).toEqual([]);
  });
});
