import { expect, test } from 'vitest';
import { createManualClock } from '../../test/support/clock.ts';
import { createLog, type Log } from './log.ts';
import { createSharedClock } from './shared-clock.ts';

const start = Date.UTC(2030, 0, 7);

/** Creates a shared clock on a host whose clock is ahead, with a monotonic clock controlled by the test. */
function onHost(aheadMs: number) {
  const host = createManualClock(start + aheadMs);
  const state = { monotonic: 5_000, shared: start, roundTripMs: 0, away: false };
  const warnings: unknown[] = [];
  const log = { ...createLog('silent', 'test'), warn: (fields: unknown) => void warnings.push(fields) };
  const clock = createSharedClock({
    host,
    monotonic: () => state.monotonic,
    readTime: async () => {
      if (state.away) throw new Error('away');
      state.monotonic += state.roundTripMs;
      state.shared += state.roundTripMs;
      if (state.roundTripMs > 0) await host.advance(Math.floor(state.roundTripMs));
      return state.shared - state.roundTripMs / 2;
    },
    log: log as unknown as Log,
  });
  return { host, state, clock, warnings };
}

test('shows the host time until it is synchronized, then the shared time', async () => {
  const { clock, warnings } = onHost(20_000);
  expect([clock.now(), clock.skewMs()]).toEqual([start + 20_000, 0]);
  await clock.synchronize();
  expect([clock.now(), clock.skewMs()]).toEqual([start, 20_000]);
  expect(warnings).toEqual([{ skewMs: 20_000 }]);
  await clock.synchronize();
  expect(warnings).toHaveLength(1);
});

test('shows whole milliseconds', async () => {
  const { clock, state } = onHost(0);
  state.monotonic += 0.2734375;
  state.roundTripMs = 1.5;
  await clock.synchronize();
  state.monotonic += 7.1;
  expect(Number.isInteger(clock.now())).toBe(true);
  expect(Number.isInteger(clock.skewMs())).toBe(true);
});

test('compensates for the round trip if the host time contradicts the reading', async () => {
  const { clock, state } = onHost(1_000);
  state.roundTripMs = 400;
  await clock.synchronize();
  expect(clock.now()).toBe(state.shared);
});

test('keeps the host time if a slow first reading does not contradict it', async () => {
  const { clock, host, state } = onHost(150);
  state.roundTripMs = 400;
  await clock.synchronize();
  expect([clock.now(), clock.skewMs()]).toEqual([host.now(), 0]);
});

test('advances with the monotonic clock, whatever the host clock does', async () => {
  const { clock, state, host, warnings } = onHost(0);
  await clock.synchronize();
  expect(warnings).toEqual([]);
  state.monotonic += 10_000;
  expect(clock.now()).toBe(start + 10_000);
  await host.advance(3_600_000);
  expect(clock.now()).toBe(start + 10_000);
});

test('ignores differences within the round trip and slow readings', async () => {
  const { clock, state } = onHost(0);
  await clock.synchronize();
  state.roundTripMs = 100;
  state.shared += 40;
  await clock.synchronize();
  expect(clock.now()).toBe(start + 100);
  state.roundTripMs = 2_001;
  state.shared += 60_000;
  await clock.synchronize();
  expect(clock.now()).toBe(start + 2_101);
  state.roundTripMs = 100;
  await clock.synchronize();
  expect(clock.now()).toBe(state.shared);
});

test('follow() synchronizes, and retries soon after a failure', async () => {
  const { clock, state, host } = onHost(0);
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
