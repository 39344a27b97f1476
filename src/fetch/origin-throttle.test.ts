import { expect, test } from 'vitest';
import { createManualClock } from '../../test/support/clock.ts';
import { createLog } from '../base/log.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { createOriginThrottles } from './origin-throttle.ts';

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
    const outcome = { kind: 'refused', reason: 'page_throttled', explicit: true, waitMs: undefined } as const;
    await at(number).circuit.record('/', outcome, false);
  }
  expect(first.circuit.paused).toBe(true);
  expect(at(1)).toBe(busy);
  expect(at(0)).not.toBe(first);
  expect((await store.origins.getPause('https://store0.example')).until).toBeGreaterThan(clock.now());
  release();
  await all.close();
  await store.close();
});
