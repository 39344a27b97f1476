import { expect, test } from 'vitest';
import { createLog } from '../base/log.ts';
import { sampleMessage } from '../queue/conformance.ts';
import { openLocalQueue } from '../queue/local/open.ts';
import type { QueueMessage } from '../queue/queue.ts';
import { traceQueue } from './telemetry.ts';

test('a message that is published again keeps its trace context', async () => {
  const queue = traceQueue(openLocalQueue({ log: createLog('silent', 'test') }));
  const received: QueueMessage[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const message = sampleMessage(1);
  await queue.consume(message.lane, message.market, 1, async (given) => {
    received.push(given);
    if (received.length === 2) resolve();
  });
  const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };
  await queue.publish(message);
  await queue.publish({ ...message, attempt: 2, trace });
  await promise;
  // Without the SDK, there is no span to continue.
  expect(received).toEqual([
    { ...message, trace: {} },
    { ...message, attempt: 2, trace },
  ]);
  await queue.close();
});
