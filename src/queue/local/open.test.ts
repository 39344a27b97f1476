import { expect, test } from 'vitest';
import { createManualClock } from '../../../test/support/clock.ts';
import { createLog } from '../../base/log.ts';
import { controlledHandler } from '../conformance/controlled-handler.ts';
import { queueConformance, sampleMessage } from '../conformance.ts';
import { openLocalQueue } from './open.ts';

const log = createLog('silent', 'test');

queueConformance(async () => {
  const clock = createManualClock(0);
  const queue = openLocalQueue({ clock, log });
  return { queue, other: queue, ackWaitMs: 30_000, advance: clock.advance, remove: () => queue.close() };
});

test('drops a message after five failed deliveries', async () => {
  const clock = createManualClock(0);
  const queue = openLocalQueue({ clock, log });
  const handler = controlledHandler();
  await queue.consume('bulk', 'mkta', 1, handler.handle);
  await queue.publish(sampleMessage(0));
  for (const pauseMs of [1_000, 2_000, 4_000, 8_000, 30_000]) {
    (await handler.next()).reject(new Error('broken'));
    while (handler.running() > 0) await Promise.resolve();
    // The queue schedules the redelivery a few turns of the event loop after the handler ended.
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(pauseMs - 1);
    expect(handler.running()).toBe(0);
    await clock.advance(1);
  }
  await queue.publish(sampleMessage(1));
  expect((await handler.next()).message.batchId).toBe('batch-1');
  void queue.close();
});
