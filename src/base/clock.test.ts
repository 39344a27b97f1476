import { describe, expect, test } from 'vitest';
import { createManualClock, createMemoryClockRecord } from '../../test/support/time/clock.ts';
import { type ClockOrigin, type ClockRecord, createSharedClock } from './clock.ts';
import { createLog, type Log } from './log.ts';

const start = Date.UTC(2030, 0, 7);
const day = 86_400_000;

interface HostOptions {
  aheadMs?: number;
  record?: ClockRecord;
  isOneHost?: boolean;
  origin?: ClockOrigin | null;
}

/**
 * Creates a shared clock on a host whose clock may be ahead, with a monotonic clock controlled by
 * the test.
 */
function onHost({
  aheadMs = 0,
  record = createMemoryClockRecord(),
  isOneHost = false,
  origin,
}: HostOptions = {}) {
  const host = createManualClock(start + aheadMs);
  const state = { monotonic: 5_000, shared: start, roundTripMs: 0, slowMs: 0, away: false, odd: 0 };
  const warnings: unknown[] = [];
  const warn = (fields: unknown, text: unknown) => void warnings.push([text, fields]);
  const step = (ms: number) => {
    host.step(ms);
    state.shared += ms;
  };
  const pass = (ms: number) => {
    step(ms);
    state.monotonic += ms;
  };
  const clock = createSharedClock({
    host,
    monotonic: () => state.monotonic,
    readTime: async () => {
      if (state.away) throw new Error('away');
      const { odd, slowMs } = state;
      // A server reads its clock late in the first round trip, which begins with the connection.
      pass(slowMs || state.roundTripMs);
      [state.odd, state.slowMs] = [0, 0];
      return state.shared - (slowMs > 0 ? 0 : state.roundTripMs / 2) + odd;
    },
    record,
    isOneHost,
    origin,
    log: { ...createLog('silent', 'test'), warn } as unknown as Log,
  });
  return { host, state, clock, warnings, pass, step };
}

describe('now()', () => {
  test('shows the host time until it is synchronized, then the shared time', async () => {
    const { clock, warnings } = onHost({ aheadMs: 20_000 });
    expect([clock.now(), clock.steady(), clock.skewMs()]).toEqual([
      start + 20_000,
      start + 20_000,
      0,
    ]);
    await clock.synchronize();
    expect([clock.now(), clock.steady(), clock.skewMs()]).toEqual([start, start, 20_000]);
    expect(warnings).toEqual([['clock skew detected', { skewMs: 20_000 }]]);
    await clock.synchronize();
    expect(warnings).toHaveLength(1);
  });

  test('shows whole milliseconds', async () => {
    const { clock, state } = onHost();
    state.monotonic += 0.2734375;
    state.roundTripMs = 1.5;
    await clock.synchronize();
    state.monotonic += 7.1;
    for (const ms of [clock.now(), clock.steady()]) expect(Number.isInteger(ms)).toBe(true);
  });

  test('compensates for the round trip if the host time contradicts the reading', async () => {
    const { clock, state } = onHost({ aheadMs: 1_000 });
    state.roundTripMs = 400;
    await clock.synchronize();
    expect(clock.now()).toBe(state.shared);
  });

  test('keeps the host time if a slow first reading does not contradict it', async () => {
    const { clock, host, state } = onHost({ aheadMs: 150 });
    state.roundTripMs = 400;
    await clock.synchronize();
    expect([clock.now(), clock.skewMs()]).toEqual([host.now(), 0]);
  });

  test('advances with the monotonic clock, whatever the host clock does', async () => {
    const { clock, state, host } = onHost();
    await clock.synchronize();
    state.monotonic += 10_000;
    expect(clock.now()).toBe(start + 10_000);
    host.step(3_600_000);
    expect(clock.now()).toBe(start + 10_000);
  });

  test('ignores differences within the round trip and slow readings', async () => {
    const { clock, state } = onHost();
    await clock.synchronize();
    state.roundTripMs = 100;
    state.shared += 40;
    await clock.synchronize();
    expect(clock.now()).toBe(start + 100);
    state.roundTripMs = 2_001;
    state.shared += 900;
    await clock.synchronize();
    expect(clock.now()).toBe(start + 2_101);
    state.roundTripMs = 0;
    await clock.synchronize();
    expect(clock.now()).toBe(state.shared);
  });

  test('ignores one odd reading', async () => {
    const { clock, state, warnings, pass } = onHost({ isOneHost: true });
    await clock.synchronize();
    pass(5_000);
    state.odd = day;
    await clock.synchronize();
    expect([clock.now(), clock.steady()]).toEqual([start + 5_000, start + 5_000]);
    expect(warnings).toEqual([]);
  });
});

describe('steady()', () => {
  const steps = [-day, -3_600_000, -20_000, 20_000, 3_600_000, day];

  test.each(steps)('does not step by %d ms with the time of day', async (stepMs) => {
    for (const isOneHost of [true, false]) {
      const { clock, state, warnings, pass } = onHost({ isOneHost });
      await clock.synchronize();
      pass(5_000);
      state.shared += stepMs;
      await clock.synchronize();
      expect([clock.now(), clock.steady()]).toEqual([state.shared, start + 5_000]);
      expect(warnings[0]).toEqual(['clock step detected', { ms: stepMs }]);
    }
  });

  test.each(steps)('agrees in all processes after a step of %d ms', async (stepMs) => {
    const record = createMemoryClockRecord();
    const [one, other] = [onHost({ record }), onHost({ record, aheadMs: 700 })];
    for (const { clock } of [one, other]) await clock.synchronize();
    for (const { pass, state } of [one, other]) {
      pass(4_000);
      state.shared += stepMs;
    }
    for (const { clock } of [one, other]) await clock.synchronize();
    expect(one.clock.steady()).toBe(start + 4_000);
    expect(other.clock.steady()).toBe(start + 4_000);
    expect(other.clock.now()).toBe(start + 4_000 + stepMs);
    const later = onHost({ record });
    later.pass(4_000);
    later.state.shared += stepMs;
    await later.clock.synchronize();
    expect(later.clock.steady()).toBe(start + 4_000);
  });

  test('does not go back at a restart with a clock that was set back', async () => {
    const record = createMemoryClockRecord();
    const before = onHost({ record, isOneHost: true });
    await before.clock.synchronize();
    before.pass(60_000);
    await before.clock.synchronize();
    const after = onHost({ record, isOneHost: true });
    after.state.shared = start - day;
    await after.clock.synchronize();
    expect([after.clock.now(), after.clock.steady()]).toEqual([start - day, start + 60_000]);
  });

  test('includes the time during which no process ran', async () => {
    const record = createMemoryClockRecord({ aheadMs: -day, reached: start - day });
    const { clock } = onHost({ record });
    await clock.synchronize();
    expect([clock.now(), clock.steady()]).toEqual([start, start - day]);
  });

  test('includes the time during which no process ran after one interval without others', async () => {
    const record = createMemoryClockRecord({ aheadMs: 0, reached: start - 3_600_000 });
    const { clock, host } = onHost({ record });
    const starting = clock.synchronize();
    await host.advance(0);
    await host.advance(6_000);
    await starting;
    expect([clock.now(), clock.steady()]).toEqual([start, start]);
  });

  test.each(['has noticed', 'has not noticed'])(
    'follows a process that %s a step before its start',
    async (known) => {
      const record = createMemoryClockRecord();
      const running = onHost({ record });
      await running.clock.synchronize();
      const later = onHost({ record });
      for (const { pass } of [running, later]) pass(5_000);
      if (known === 'has not noticed') await running.clock.synchronize();
      later.state.shared += 600_000;
      const starting = later.clock.synchronize();
      for (let turn = 0; turn < 3; turn += 1) await later.host.advance(100);
      running.pass(5_000);
      if (known === 'has noticed') running.state.shared += 600_000;
      await running.clock.synchronize();
      await later.host.advance(100);
      await starting;
      expect(later.clock.steady() - start).toBe(10_000);
      expect(running.clock.steady() - start).toBe(10_000);
    },
  );

  test('follows the others if the monotonic clock of this process runs wrong', async () => {
    const record = createMemoryClockRecord();
    const [right, fast] = [onHost({ record }), onHost({ record })];
    for (const { clock } of [right, fast]) await clock.synchronize();
    for (let round = 1; round <= 10; round += 1) {
      for (const { pass } of [right, fast]) pass(5_000);
      fast.state.monotonic += 45_000;
      await right.clock.synchronize();
      await fast.clock.synchronize();
      expect(fast.clock.steady()).toBe(start + round * 5_000);
      expect(right.clock.steady()).toBe(start + round * 5_000);
    }
    expect(await record.read()).toMatchObject({ aheadMs: 0 });
  });

  test('follows the others after this process was suspended', async () => {
    const record = createMemoryClockRecord();
    const [awake, asleep] = [onHost({ record }), onHost({ record })];
    for (const { clock } of [awake, asleep]) await clock.synchronize();
    awake.pass(3_600_000);
    await awake.clock.synchronize();
    asleep.state.shared += 3_600_000;
    await asleep.clock.synchronize();
    expect(asleep.clock.steady()).toBe(start + 3_600_000);
    expect(await record.read()).toMatchObject({ aheadMs: 0 });
  });
});

describe('the clock of a process that another one started on its host', () => {
  /** Starts the clocks of two processes after a step that the first has not noticed. */
  async function startBoth(stepMs: number) {
    const record = createMemoryClockRecord();
    const first = onHost({ record, isOneHost: true });
    await first.clock.synchronize();
    const second = onHost({ record, isOneHost: true, origin: first.clock.origin() });
    for (const { pass, step } of [first, second]) {
      pass(4_000);
      step(stepMs);
    }
    await second.clock.synchronize();
    return { record, first, second };
  }

  test.each([-day, day])('has the same steady time after a step of %d ms', async (stepMs) => {
    const { first, second } = await startBoth(stepMs);
    expect(second.clock.steady()).toBe(start + 4_000);
    expect(second.clock.now()).toBe(start + 4_000 + stepMs);
    await first.clock.synchronize();
    expect(first.clock.steady()).toBe(start + 4_000);
    expect(first.warnings).toEqual([]);
    expect(second.warnings[0]).toEqual(['clock step detected', { ms: stepMs }]);
  });

  test('keeps its steady time if the time of day steps between the readings of both', async () => {
    const { first, second } = await startBoth(day);
    for (const stepMs of [-day, day, -day]) {
      for (const { step, pass, clock } of [first, second]) {
        pass(5_000);
        step(stepMs);
        await clock.synchronize();
        step(-stepMs);
      }
      expect(first.clock.steady()).toBe(second.clock.steady());
    }
    expect(first.clock.steady()).toBe(start + 19_000);
  });

  test('follows the store if the other one did not know the time', async () => {
    const record = createMemoryClockRecord({ aheadMs: -day, reached: start - day });
    const { clock } = onHost({ record, isOneHost: true, origin: null });
    await clock.synchronize();
    await record.change(-day, 0);
    await clock.synchronize();
    expect(clock.steady()).toBe(start);
  });
});

test('processes that start concurrently under load detect no step', async () => {
  const record = createMemoryClockRecord();
  const first = onHost({ record });
  first.state.slowMs = 5_000;
  await first.clock.synchronize();
  const second = onHost({ record });
  second.pass(5_000);
  await second.clock.synchronize();
  expect([...first.warnings, ...second.warnings]).toEqual([]);
  expect(first.clock.now() - first.clock.steady()).toBe(0);
  expect(second.clock.now() - second.clock.steady()).toBe(0);
});

test('follow() synchronizes, and retries soon after a failure', async () => {
  const { clock, state, host } = onHost();
  const stopping = new AbortController();
  state.away = true;
  const following = clock.follow(30_000, stopping.signal);
  await host.advance(0);
  expect(clock.skewMs()).toBe(0);
  state.away = false;
  state.shared -= 5_000;
  await host.advance(1_000);
  expect(clock.now()).toBe(start - 5_000);
  stopping.abort(new Error('stop'));
  await following;
});
