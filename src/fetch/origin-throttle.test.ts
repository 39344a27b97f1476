import { expect, test } from 'vitest';
import { createManualClock } from '../../test/support/time/clock.ts';
import { createLog } from '../base/log.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { createOriginThrottles, type OriginThrottles } from './origin-throttle.ts';

const policy = { concurrency: 2, requestsPerSecond: 5, robots: false, fetch: 'http' } as const;

test('createOriginThrottles() evicts paused origins beyond 1,000, but the store keeps their pauses', async () => {
  const store = openSqliteStore({ path: ':memory:' });
  const clock = createManualClock(Date.UTC(2030, 0, 7));
  const all = createOriginThrottles({
    store,
    holder: 'one',
    clock,
    log: createLog('silent', 'test'),
    random: () => 0,
    firstPauseMs: 600_000,
  });
  const at = (number: number) => all.at(`https://store${number}.example`, `mktf ${number}`, policy);
  const first = at(0);
  const busy = at(1);
  const release = await busy.permits.acquire();
  for (let number = 0; number < 1_200; number += 1) {
    const outcome = {
      kind: 'refused',
      reason: 'page_throttled',
      explicit: true,
      waitMs: undefined,
    } as const;
    await at(number).circuit.record('/', outcome, false);
  }
  expect(first.circuit.paused).toBe(true);
  expect(at(1)).toBe(busy);
  expect(at(0)).not.toBe(first);
  expect((await store.origins.getPause('https://store0.example')).until).toBeGreaterThan(
    clock.now(),
  );
  release();
  await all.close();
  await store.close();
});

test('an origin keeps its concurrency in processes with more than 1,000 origins', async () => {
  const store = openSqliteStore({ path: ':memory:' });
  const clock = createManualClock(Date.UTC(2030, 0, 7));
  const options = {
    store,
    clock,
    log: createLog('silent', 'test'),
    random: () => 0,
    firstPauseMs: 1_000,
  };
  const processes = ['one', 'two'].map((holder) => createOriginThrottles({ ...options, holder }));
  const limits = { ...policy, concurrency: 4, requestsPerSecond: 1_000 };
  const at = (throttles: OriginThrottles, number: number) =>
    throttles.at(`https://store${number}.example`, `mktf ${number}`, limits);
  let [sending, peak] = [0, 0];
  const send = async (throttles: OriginThrottles) => {
    const release = await at(throttles, 0).permits.acquire();
    sending += 1;
    peak = Math.max(peak, sending);
    await clock.sleep(300);
    sending -= 1;
    release();
  };
  const sent: Promise<void>[] = [];
  for (let round = 0; round < 10; round += 1) {
    for (const throttles of processes) {
      for (let number = 1; number <= 1_001; number += 1) at(throttles, number);
      for (let count = 0; count < 4; count += 1) sent.push(send(throttles));
    }
    await clock.advance(700);
  }
  await clock.advance(10_000);
  await Promise.all(sent);
  expect(peak).toBe(4);
  await Promise.all(processes.map((throttles) => throttles.close()));
  await store.close();
});
