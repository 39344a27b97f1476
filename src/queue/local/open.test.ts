import { expect, test } from 'vitest';
import { createManualClock } from '../../../test/support/time/clock.ts';
import { createLog } from '../../base/log.ts';
import { controlledHandler } from '../conformance/controlled-handler.ts';
import { queueConformance, sampleMessage } from '../conformance.ts';
import type { Consumer, QueueMessage } from '../queue.ts';
import { openLocalQueue } from './open.ts';

const log = createLog('silent', 'test');

queueConformance(async () => {
  const clock = createManualClock(0);
  const queue = openLocalQueue({ clock, log });
  return {
    queue,
    other: queue,
    ackWaitMs: 30_000,
    advance: clock.advance,
    remove: () => queue.close(),
  };
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

test('gives the messages of a place to its owners in turn, and to others when they stop', async () => {
  const placeOf = ({ region }: QueueMessage) => ({ name: region, owners: region === 'id' ? 1 : 2 });
  const queue = openLocalQueue({ clock: createManualClock(0), log, placeOf });
  const handled = new Map<string, string[]>();
  const consumers = new Map<string, Consumer>();
  for (const member of ['0', '1', '2', '3']) {
    handled.set(member, []);
    const handle = async ({ batchId }: QueueMessage) => void handled.get(member)!.push(batchId);
    consumers.set(member, await queue.consume('bulk', 'mkta', 100, handle, member));
  }
  const handlersOf = async (first: number, region: string) => {
    for (let index = first; index < first + 8; index++)
      await queue.publish(sampleMessage(index, { region }));
    await new Promise((resolve) => setImmediate(resolve));
    const counts = [...handled].map(([member, ids]) => [member, ids.splice(0).length] as const);
    return counts.filter(([, count]) => count > 0);
  };
  const [[owner, count] = [], ...others] = await handlersOf(0, 'id');
  expect([count, others]).toEqual([8, []]);
  expect((await handlersOf(8, 'sg')).map(([, its]) => its)).toEqual([4, 4]);
  await consumers.get(owner!)!.stop();
  const [[next] = [], ...none] = await handlersOf(16, 'id');
  expect(none).toEqual([]);
  expect(next).not.toBe(owner);
  await queue.close();
});
