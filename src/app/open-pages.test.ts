import { expect, test } from 'vitest';
import { createDisabledScheduler } from './open-pages.ts';

test('createDisabledScheduler() returns the concurrency of origins and opens no session', async () => {
  const scheduler = createDisabledScheduler({
    origins: new Map(),
    policyOf: () => ({ concurrency: 7, requestsPerSecond: 100 }),
  });
  expect(scheduler.concurrency('mkta', 'id')).toBe(7);
  expect(() => scheduler.openSession('mkta', 'id')).toThrow(
    'This process fetches no pages of mkta.',
  );
  await scheduler.close();
});
