import { expect, test } from 'vitest';
import { createPagesElsewhere } from './elsewhere.ts';

test('createPagesElsewhere() knows the concurrency of origins and reads no page', async () => {
  const pages = createPagesElsewhere({
    origins: new Map(),
    policyOf: () => ({ concurrency: 7, requestsPerSecond: 100 }),
  });
  expect(pages.concurrency('mkta')).toBe(7);
  expect(() => pages.visit('mkta', 'id')).toThrow('Pages of mkta are not read in this process.');
  await pages.close();
});
