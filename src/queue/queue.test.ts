import { expect, test } from 'vitest';
import { createLog } from '../base/log.ts';
import { openLocalQueue } from './local/open.ts';
import { watchFirstPublish } from './queue.ts';

test('watchFirstPublish() resolves with the first message that is published', async () => {
  const { queue, published } = watchFirstPublish(
    openLocalQueue({ log: createLog('silent', 'test') }),
  );
  let isPublished = false;
  void published.then(() => {
    isPublished = true;
  });
  await queue.ping();
  expect(isPublished).toBe(false);
  const message = {
    lane: 'bulk',
    market: 'mkta',
    region: 'id',
    jobId: 'j',
    batchId: 'b',
    attempt: 0,
    units: 1,
  };
  expect(await queue.publish(message as never)).toBe(true);
  expect(isPublished).toBe(true);
  await queue.close();
});
