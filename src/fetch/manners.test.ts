import { expect, test } from 'vitest';
import { createManualClock } from '../../test/support/clock.ts';
import { createLog } from '../base/log.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { rememberManners } from './manners.ts';

const policy = { concurrency: 2, requestsPerSecond: 5, robots: false };

test('origins are forgotten beyond 1,000, also while they are paused, and their pause is not', async () => {
  const store = openSqliteStore({ path: ':memory:' });
  const clock = createManualClock(Date.UTC(2030, 0, 7));
  const all = rememberManners({
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
  const release = await busy.permits.enter();
  for (let number = 0; number < 1_200; number += 1) {
    const verdict = { sort: 'refused', reason: 'page_throttled', asked: true, waitMs: undefined } as const;
    await at(number).circuit.judge('/', verdict, false);
  }
  expect(first.circuit.paused).toBe(true);
  expect(at(1)).toBe(busy);
  expect(at(0)).not.toBe(first);
  expect((await store.getPause('https://store0.example')).until).toBeGreaterThan(clock.now());
  release();
  await all.close();
  await store.close();
});
