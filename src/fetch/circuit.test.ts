import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createManualClock, flushTasks, type ManualClock } from '../../test/support/clock.ts';
import { createLog } from '../base/log.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import { type Circuit, createCircuit } from './circuit.ts';
import type { Verdict } from './request-outcome.ts';

const origin = 'https://origin.example';
const start = 1_000_000;
const well: Verdict = { sort: 'well' };
const blocked: Verdict = { sort: 'refused', reason: 'page_blocked', asked: false, waitMs: undefined };
const throttled = (waitMs?: number): Verdict => ({
  sort: 'refused',
  reason: 'page_throttled',
  asked: true,
  waitMs,
});
const timeout: Verdict = { sort: 'failed', reason: 'page_timeout' };

let store: Store;
let clock: ManualClock;

beforeEach(() => {
  store = openSqliteStore({ path: ':memory:' });
  clock = createManualClock(start);
});

afterEach(() => store.close());

function circuitOf(random = 0): Circuit {
  return createCircuit({
    origin,
    name: 'mkta/id',
    store,
    clock,
    log: createLog('silent', 'test'),
    pausing: () => {},
    random: () => random,
    firstPauseMs: 1_000,
  });
}

/** Seconds until which the origin is left alone, from the beginning on. */
const pausedFor = async () => ((await store.getPause(origin)).until - start) / 1000;
const strikes = async () => (await store.getPause(origin)).failures;

let pages = 0;

/** Pages that are refused one after the other, each after the pause before. */
async function refuse(circuit: Circuit, verdict: Verdict, times: number): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) {
    const until = (await store.getPause(origin)).until;
    await clock.advance(Math.max(0, until - clock.now()));
    pages += 1;
    const probe = await circuit.admit(`/refused/${pages}`, 0);
    await circuit.judge(`/refused/${pages}`, verdict, probe);
  }
}

describe('what tells of the origin', () => {
  test('one page that is blocked does not, however often it is tried', async () => {
    const circuit = circuitOf();
    for (let turn = 0; turn < 10; turn += 1) await circuit.judge('/bad', blocked, false);
    expect(circuit.paused).toBe(false);
  });

  test('different pages blocked in a row do, unless one came well between', async () => {
    const circuit = circuitOf();
    for (const page of ['/1', '/2', '/3']) {
      await circuit.judge(page, blocked, false);
      await circuit.judge('/good', well, false);
    }
    expect(circuit.paused).toBe(false);
    await circuit.judge('/4', blocked, false);
    await circuit.judge('/5', blocked, false);
    expect(await pausedFor()).toBe(1);
  });

  test('a site that asks to be left alone does at once, for as long as it asks', async () => {
    const circuit = circuitOf();
    await circuit.judge('/1', throttled(30_000), false);
    expect(await pausedFor()).toBe(30);
  });

  test('a page that is throttled again while others come well does not', async () => {
    const circuit = circuitOf();
    await circuit.judge('/bad', throttled(2_000), false);
    await clock.advance(2_000);
    for (const page of ['/1', '/2', '/3']) await circuit.judge(page, well, false);
    for (let turn = 0; turn < 5; turn += 1) await circuit.judge('/bad', throttled(60_000), false);
    expect(await pausedFor()).toBe(2);
    await circuit.judge('/other', throttled(60_000), false);
    expect(await pausedFor()).toBe(62);
  });

  test('five different pages that do not come in a row do', async () => {
    const circuit = circuitOf();
    for (const page of ['/1', '/2', '/3', '/4', '/1', '/2', '/3', '/4'])
      await circuit.judge(page, timeout, false);
    expect(circuit.paused).toBe(false);
    await circuit.judge('/5', timeout, false);
    expect(await store.getPause(origin)).toMatchObject({ reason: 'page_timeout', failures: 1 });
  });

  test('an answer that says nothing of it does not', async () => {
    const circuit = circuitOf();
    for (let page = 0; page < 20; page += 1) await circuit.judge(`/${page}`, { sort: 'other' }, false);
    expect(circuit.paused).toBe(false);
  });
});

describe('pauses', () => {
  test('double up to two minutes, with jitter, where the site names no time', async () => {
    const times: number[] = [];
    const circuit = circuitOf(0.8);
    for (let turn = 0; turn < 10; turn += 1) {
      await refuse(circuit, throttled(), 1);
      times.push((await store.getPause(origin)).until - clock.now());
    }
    expect(times.map((ms) => ms / 1200)).toEqual([1, 2, 4, 8, 16, 32, 64, 120, 120, 120]);
  });

  test('that a site asks for are believed up to 15 minutes', async () => {
    const circuit = circuitOf();
    await circuit.judge('/1', throttled(86_400_000), false);
    expect(await pausedFor()).toBe(15 * 60);
  });

  test('of many requests under way at once count once, and last as long as the longest asked for', async () => {
    const circuit = circuitOf();
    const other = circuitOf();
    for (let page = 0; page < 8; page += 1) await circuit.judge(`/${page}`, throttled(5_000), false);
    for (let page = 8; page < 16; page += 1) await other.judge(`/${page}`, throttled(4_000), false);
    expect(await strikes()).toBe(1);
    expect(await pausedFor()).toBe(5);
    await other.judge('/16', throttled(9_000), false);
    expect(await strikes()).toBe(1);
    expect(await pausedFor()).toBe(9);
  });

  test('do not add up with ten pages that came well between, nor with ten minutes', async () => {
    const circuit = circuitOf();
    await refuse(circuit, throttled(1_000), 2);
    await clock.advance(1_000);
    for (let page = 0; page < 10; page += 1) await circuit.judge(`/${page}`, well, false);
    expect(await strikes()).toBe(0);
    await refuse(circuit, throttled(1_000), 2);
    await clock.advance(10 * 60_000 + 1_001);
    await circuit.judge('/late', throttled(1_000), false);
    expect(await strikes()).toBe(1);
  });

  test('that end soon are waited for, others are not', async () => {
    const circuit = circuitOf();
    await circuit.judge('/1', throttled(4_000), false);
    await expect(circuit.pass(3_999)).rejects.toMatchObject({
      code: 'origin_paused',
      message: 'mkta/id: throttled (page_throttled)',
      retryAfterMs: 4_000,
    });
    let passed = false;
    void circuit.pass(4_000).then(() => {
      passed = true;
    });
    await clock.advance(3_999);
    expect(passed).toBe(false);
    await clock.advance(1);
    expect(passed).toBe(true);
  });

  test('end a wait with the reason when aborted', async () => {
    const circuit = circuitOf();
    await circuit.judge('/1', throttled(4_000), false);
    const controller = new AbortController();
    const waiting = circuit.pass(4_000, controller.signal);
    controller.abort('stop');
    await expect(waiting).rejects.toBe('stop');
  });

  test('are known to others from the store', async () => {
    const [circuit, other] = [circuitOf(), circuitOf()];
    await circuit.judge('/1', throttled(60_000), false);
    expect(other.paused).toBe(false);
    other.learn(await store.getPause(origin));
    expect(other.paused).toBe(true);
    // What is older than what is known changes nothing.
    other.learn({ ...(await store.getPause(origin)), change: 0, until: 0 });
    expect(other.paused).toBe(true);
  });
});

describe('after three pauses in a row', () => {
  /** Two processes, of which both know that the circuit is open, with the last pause just over. */
  async function opened(): Promise<[Circuit, Circuit]> {
    const [circuit, other] = [circuitOf(), circuitOf()];
    await refuse(circuit, throttled(1_000), 3);
    other.learn(await store.getPause(origin));
    await clock.advance(1_000);
    return [circuit, other];
  }

  test('one request tries the origin, in whatever process; the others wait', async () => {
    const [circuit, other] = await opened();
    const admitted = await Promise.allSettled(
      ['/a', '/b', '/c', '/d'].map((page, turn) => (turn % 2 ? circuit : other).admit(page, 0)),
    );
    expect(admitted.filter(({ status }) => status === 'fulfilled')).toEqual([
      { status: 'fulfilled', value: true },
    ]);
    const turnedAway = admitted.filter((one) => one.status === 'rejected');
    for (const { reason } of turnedAway) {
      expect(reason).toMatchObject({ code: 'origin_paused' });
      expect(reason.retryAfterMs).toBeLessThanOrEqual(5_000);
    }
  });

  test('its success lets all go on', async () => {
    const [circuit, other] = await opened();
    expect(await circuit.admit('/a', 0)).toBe(true);
    const waiting = other.admit('/b', 5_000);
    await flushTasks();
    await circuit.judge('/a', well, true);
    await clock.advance(5_000);
    expect(await waiting).toBe(false);
    expect(await strikes()).toBe(0);
  });

  test('its failure is the next pause, whatever late answers of others say', async () => {
    const [circuit, other] = await opened();
    expect(await circuit.admit('/a', 0)).toBe(true);
    await other.judge('/late', blocked, false);
    await other.judge('/later', well, false);
    expect(await store.getPause(origin)).toMatchObject({ failures: 3, probing: true });
    await circuit.judge('/a', timeout, true);
    expect(await store.getPause(origin)).toMatchObject({ failures: 4, probing: false });
    expect((await store.getPause(origin)).until - clock.now()).toBe(8_000);
  });

  test('an answer that says nothing of the origin makes another try it', async () => {
    const [circuit, other] = await opened();
    expect(await circuit.admit('/a', 0)).toBe(true);
    await circuit.judge('/a', { sort: 'other' }, true);
    other.learn(await store.getPause(origin));
    expect(await other.admit('/b', 0)).toBe(true);
  });

  test('one that never ends is given up after a while', async () => {
    const [circuit, other] = await opened();
    expect(await circuit.admit('/a', 0)).toBe(true);
    await clock.advance(44_000);
    await expect(other.admit('/b', 0)).rejects.toMatchObject({ code: 'origin_paused' });
    await clock.advance(1_000);
    expect(await other.admit('/b', 0)).toBe(true);
  });

  test('a page that was refused before leaves the try to another page', async () => {
    const [circuit, other] = await opened();
    const bad = circuit.admit(`/refused/${pages}`, 10_000);
    await flushTasks();
    expect(await other.admit('/fresh', 0)).toBe(true);
    await other.judge('/fresh', well, true);
    await clock.advance(5_000);
    expect(await bad).toBe(false);
  });

  test('a page that was refused before tries the origin itself where no other comes', async () => {
    const [circuit] = await opened();
    const bad = circuit.admit(`/refused/${pages}`, 10_000);
    await flushTasks();
    await clock.advance(4_999);
    expect(await store.getPause(origin)).toMatchObject({ probing: false });
    await clock.advance(1);
    expect(await bad).toBe(true);
  });
});
