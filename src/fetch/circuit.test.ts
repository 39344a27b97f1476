import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createManualClock, flushTasks, type ManualClock } from '../../test/support/time/clock.ts';
import { createLog } from '../base/log.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import { Circuit, createFailureHistory } from './circuit.ts';
import type { RequestOutcome } from './request-outcome.ts';

const origin = 'https://origin.example';
const start = 1_000_000;
const succeeded: RequestOutcome = { kind: 'succeeded' };
const blocked: RequestOutcome = {
  kind: 'refused',
  reason: 'page_blocked',
  explicit: false,
  waitMs: undefined,
};
const throttled = (waitMs?: number): RequestOutcome => ({
  kind: 'refused',
  reason: 'page_throttled',
  explicit: true,
  waitMs,
});
const timeout: RequestOutcome = { kind: 'failed', reason: 'page_timeout' };

let store: Store;
let clock: ManualClock;

beforeEach(() => {
  store = openSqliteStore({ path: ':memory:' });
  clock = createManualClock(start);
});

afterEach(() => store.close());

function newCircuit(random = 0): Circuit {
  return new Circuit({
    origin,
    name: 'mkta/id',
    store,
    clock,
    log: createLog('silent', 'test'),
    onPause: () => {},
    random: () => random,
    firstPauseMs: 1_000,
  });
}

/** Returns the end of the pause, in seconds since the start of the test. */
const pausedFor = async () => ((await store.origins.getPause(origin)).until - start) / 1000;
const failureCount = async () => (await store.origins.getPause(origin)).failures;

let pages = 0;

/** Records refusals of distinct pages, each after the pause caused by the previous one. */
async function refuse(circuit: Circuit, outcome: RequestOutcome, times: number): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) {
    const until = (await store.origins.getPause(origin)).until;
    await clock.advance(Math.max(0, until - clock.now()));
    pages += 1;
    const trial = await circuit.admit(`/refused/${pages}`, 0);
    await circuit.record(`/refused/${pages}`, outcome, trial);
  }
}

describe('record()', () => {
  test('does not pause the origin if a single page is blocked repeatedly', async () => {
    const circuit = newCircuit();
    for (let turn = 0; turn < 10; turn += 1) await circuit.record('/bad', blocked, false);
    expect(circuit.paused).toBe(false);
  });

  test('pauses the origin if different pages are blocked in a row, without a success in between', async () => {
    const circuit = newCircuit();
    for (const page of ['/1', '/2', '/3']) {
      await circuit.record(page, blocked, false);
      await circuit.record('/good', succeeded, false);
    }
    expect(circuit.paused).toBe(false);
    await circuit.record('/4', blocked, false);
    await circuit.record('/5', blocked, false);
    expect(await pausedFor()).toBe(1);
  });

  test('pauses the origin at once for as long as the site asks', async () => {
    const circuit = newCircuit();
    await circuit.record('/1', throttled(30_000), false);
    expect(await pausedFor()).toBe(30);
  });

  test('does not pause the origin again for one throttled page while others succeed', async () => {
    const circuit = newCircuit();
    await circuit.record('/bad', throttled(2_000), false);
    await clock.advance(2_000);
    for (const page of ['/1', '/2', '/3']) await circuit.record(page, succeeded, false);
    for (let turn = 0; turn < 5; turn += 1) await circuit.record('/bad', throttled(60_000), false);
    expect(await pausedFor()).toBe(2);
    await circuit.record('/other', throttled(60_000), false);
    expect(await pausedFor()).toBe(62);
  });

  test('pauses the origin if five different pages fail in a row', async () => {
    const circuit = newCircuit();
    for (const page of ['/1', '/2', '/3', '/4', '/1', '/2', '/3', '/4'])
      await circuit.record(page, timeout, false);
    expect(circuit.paused).toBe(false);
    await circuit.record('/5', timeout, false);
    expect(await store.origins.getPause(origin)).toMatchObject({
      reason: 'page_timeout',
      failures: 1,
    });
  });

  test('ignores inconclusive responses', async () => {
    const circuit = newCircuit();
    for (let page = 0; page < 20; page += 1)
      await circuit.record(`/${page}`, { kind: 'inconclusive' }, false);
    expect(circuit.paused).toBe(false);
  });
});

describe('a pause', () => {
  test('doubles up to two minutes, with jitter, if the site names no duration', async () => {
    const times: number[] = [];
    const circuit = newCircuit(0.8);
    for (let turn = 0; turn < 10; turn += 1) {
      await refuse(circuit, throttled(), 1);
      times.push((await store.origins.getPause(origin)).until - clock.now());
    }
    expect(times.map((ms) => ms / 1200)).toEqual([1, 2, 4, 8, 16, 32, 64, 120, 120, 120]);
  });

  test('lasts as long as the site asks, up to 15 minutes', async () => {
    const circuit = newCircuit();
    await circuit.record('/1', throttled(86_400_000), false);
    expect(await pausedFor()).toBe(15 * 60);
  });

  test('counts once for concurrent requests, and lasts as long as the longest requested duration', async () => {
    const circuit = newCircuit();
    const other = newCircuit();
    for (let page = 0; page < 8; page += 1)
      await circuit.record(`/${page}`, throttled(5_000), false);
    for (let page = 8; page < 16; page += 1)
      await other.record(`/${page}`, throttled(4_000), false);
    expect(await failureCount()).toBe(1);
    expect(await pausedFor()).toBe(5);
    await other.record('/16', throttled(9_000), false);
    expect(await failureCount()).toBe(1);
    expect(await pausedFor()).toBe(9);
  });

  test('counts as the first again after ten successes or ten minutes', async () => {
    const circuit = newCircuit();
    await refuse(circuit, throttled(1_000), 2);
    await clock.advance(1_000);
    for (let page = 0; page < 10; page += 1) await circuit.record(`/${page}`, succeeded, false);
    expect(await failureCount()).toBe(0);
    await refuse(circuit, throttled(1_000), 2);
    await clock.advance(10 * 60_000 + 1_001);
    await circuit.record('/late', throttled(1_000), false);
    expect(await failureCount()).toBe(1);
  });

  test('is waited for only if it ends within the maximum wait', async () => {
    const circuit = newCircuit();
    await circuit.record('/1', throttled(4_000), false);
    await expect(circuit.wait(3_999)).rejects.toMatchObject({
      code: 'origin_paused',
      message: 'mkta/id: throttled (page_throttled)',
      retryAfterMs: 4_000,
    });
    let passed = false;
    void circuit.wait(4_000).then(() => {
      passed = true;
    });
    await clock.advance(3_999);
    expect(passed).toBe(false);
    await clock.advance(1);
    expect(passed).toBe(true);
  });

  test('can be waited for until a signal aborts, which rejects with its reason', async () => {
    const circuit = newCircuit();
    await circuit.record('/1', throttled(4_000), false);
    const controller = new AbortController();
    const waiting = circuit.wait(4_000, controller.signal);
    controller.abort('stop');
    await expect(waiting).rejects.toBe('stop');
  });

  test('is applied by other processes from the store', async () => {
    const [circuit, other] = [newCircuit(), newCircuit()];
    await circuit.record('/1', throttled(60_000), false);
    expect(other.paused).toBe(false);
    other.update(await store.origins.getPause(origin));
    expect(other.paused).toBe(true);
    // An older state is ignored.
    other.update({ ...(await store.origins.getPause(origin)), revision: 0, until: 0 });
    expect(other.paused).toBe(true);
  });
});

describe('a circuit after three pauses in a row', () => {
  /** Creates the circuits of two processes, both open, just after the last pause. */
  async function opened(): Promise<[Circuit, Circuit]> {
    const [circuit, other] = [newCircuit(), newCircuit()];
    await refuse(circuit, throttled(1_000), 3);
    other.update(await store.origins.getPause(origin));
    await clock.advance(1_000);
    return [circuit, other];
  }

  test('admits one trial request over all processes; the others wait', async () => {
    const [circuit, other] = await opened();
    const admitted = await Promise.allSettled(
      ['/a', '/b', '/c', '/d'].map((page, turn) => (turn % 2 ? circuit : other).admit(page, 0)),
    );
    expect(admitted.filter(({ status }) => status === 'fulfilled')).toEqual([
      { status: 'fulfilled', value: true },
    ]);
    const rejected = admitted.filter((one) => one.status === 'rejected');
    for (const { reason } of rejected) {
      expect(reason).toMatchObject({ code: 'origin_paused' });
      expect(reason.retryAfterMs).toBeLessThanOrEqual(5_000);
    }
  });

  test('closes when the trial request succeeds', async () => {
    const [circuit, other] = await opened();
    expect(await circuit.admit('/a', 0)).toBe(true);
    const waiting = other.admit('/b', 5_000);
    await flushTasks();
    await circuit.record('/a', succeeded, true);
    await clock.advance(5_000);
    expect(await waiting).toBe(false);
    expect(await failureCount()).toBe(0);
  });

  test('pauses again when the trial request fails, regardless of late responses to other requests', async () => {
    const [circuit, other] = await opened();
    expect(await circuit.admit('/a', 0)).toBe(true);
    await other.record('/late', blocked, false);
    await other.record('/later', succeeded, false);
    expect(await store.origins.getPause(origin)).toMatchObject({ failures: 3, probing: true });
    await circuit.record('/a', timeout, true);
    expect(await store.origins.getPause(origin)).toMatchObject({ failures: 4, probing: false });
    expect((await store.origins.getPause(origin)).until - clock.now()).toBe(8_000);
  });

  test('admits another trial request after an inconclusive response', async () => {
    const [circuit, other] = await opened();
    expect(await circuit.admit('/a', 0)).toBe(true);
    await circuit.record('/a', { kind: 'inconclusive' }, true);
    other.update(await store.origins.getPause(origin));
    expect(await other.admit('/b', 0)).toBe(true);
  });

  test('admits another trial request if the first one never ends', async () => {
    const [circuit, other] = await opened();
    expect(await circuit.admit('/a', 0)).toBe(true);
    await clock.advance(44_000);
    await expect(other.admit('/b', 0)).rejects.toMatchObject({ code: 'origin_paused' });
    await clock.advance(1_000);
    expect(await other.admit('/b', 0)).toBe(true);
  });

  test('prefers a page without an earlier refusal for the trial request', async () => {
    const [circuit, other] = await opened();
    const bad = circuit.admit(`/refused/${pages}`, 10_000);
    await flushTasks();
    expect(await other.admit('/fresh', 0)).toBe(true);
    await other.record('/fresh', succeeded, true);
    await clock.advance(5_000);
    expect(await bad).toBe(false);
  });

  test('uses a page that was refused before for the trial request if there is no other', async () => {
    const [circuit] = await opened();
    const bad = circuit.admit(`/refused/${pages}`, 10_000);
    await flushTasks();
    await clock.advance(4_999);
    expect(await store.origins.getPause(origin)).toMatchObject({ probing: false });
    await clock.advance(1);
    expect(await bad).toBe(true);
  });
});

describe('createFailureHistory()', () => {
  test('distinguishes an origin that refuses requests from a single refused page', () => {
    const history = createFailureHistory();
    expect([history.refused('/a', false), history.refused('/a', false)]).toEqual([false, false]);
    expect([history.refused('/b', false), history.refused('/c', false)]).toEqual([true, true]);
    history.succeeded('/d');
    expect(history.refused('/b', false)).toBe(false);
    expect(history.refused('/e', true)).toBe(true);
  });

  test('blames the origin after five different failed pages in a row', () => {
    const history = createFailureHistory();
    const results = Array.from({ length: 7 }, (_, at) => history.failed(`/${at}`));
    expect(results).toEqual([false, false, false, false, true, true, true]);
  });

  test('evicts pages when their paths exceed the memory limit', () => {
    const history = createFailureHistory();
    const path = (at: number) => `/${'x'.repeat(4_000)}${at}`;
    for (let at = 0; at < 1_000; at += 1) history.refused(path(at), false);
    const remembered = Array.from({ length: 1_000 }, (_, at) => at).filter((at) =>
      history.has(path(at)),
    );
    expect(remembered.length).toBeGreaterThan(0);
    expect(remembered.length).toBeLessThan(20);
    expect(remembered.at(-1)).toBe(999);
  });
});
