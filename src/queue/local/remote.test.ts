import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../../test/support/time/clock.ts';
import { type Channel, createIpcChannel, type IpcChannel } from '../../base/ipc-channel.ts';
import { createLog } from '../../base/log.ts';
import { controlledHandler } from '../conformance/controlled-handler.ts';
import { queueConformance, sampleMessage } from '../conformance.ts';
import type { Queue } from '../queue.ts';
import { openLocalQueue } from './open.ts';
import { type ConsumerCalls, openRemoteQueue, type QueueCalls, serveQueue } from './remote.ts';

const wireOf = (port: MessagePort): Channel => ({
  send: (message) => port.postMessage(message),
  receive: (listener) => port.on('message', listener),
});

/**
 * Imitates a worker process connected to the queue's process; `die` disconnects it abruptly.
 * `sends` is called whenever the queue's process sends messages to it.
 */
function connect(local: Queue, sends = () => {}) {
  const { port1, port2 } = new MessageChannel();
  const served = serveQueue(local, () => there, randomUUID());
  const { send, receive } = wireOf(port1);
  const there: IpcChannel<ConsumerCalls> = createIpcChannel<ConsumerCalls, QueueCalls>(
    {
      send: (messages) => {
        sends();
        send(messages);
      },
      receive,
    },
    served.calls,
  );
  const remote = openRemoteQueue(() => here);
  const here: IpcChannel<QueueCalls> = createIpcChannel<QueueCalls, ConsumerCalls>(
    wireOf(port2),
    remote.calls,
  );
  return {
    queue: remote.queue,
    die() {
      port1.close();
      port2.close();
      there.close();
      served.close();
    },
  };
}

const log = createLog('silent', 'test');

describe('queue served by another process', () => {
  queueConformance(async () => {
    const clock = createManualClock(0);
    const local = openLocalQueue({ clock, log });
    const [one, two] = [connect(local), connect(local)];
    return {
      queue: one.queue,
      other: two.queue,
      ackWaitMs: 30_000,
      advance: clock.advance,
      async remove() {
        one.die();
        two.die();
        await local.close();
      },
    };
  });

  test.each([
    ['a single task before the next steps of its publisher', 'single', true],
    ['bulk work after them', 'bulk', false],
  ] as const)('sends %s', async (_case, lane, isSent) => {
    const local = openLocalQueue({ clock: createManualClock(0), log });
    let sent = 0;
    const { queue, die } = connect(local, () => {
      sent += 1;
    });
    const handler = controlledHandler();
    await queue.consume(lane, 'mkta', 1, handler.handle);
    const before = sent;
    await local.publish({ ...sampleMessage(0), lane });
    // Further steps in the same turn of the event loop.
    for (let step = 0; step < 10; step++) await Promise.resolve();
    expect(sent > before).toBe(isSent);
    (await handler.next()).resolve();
    await local.close();
    die();
  });

  test('redelivers the messages of a dead process to another', async () => {
    const clock = createManualClock(0);
    const local = openLocalQueue({ clock, log });
    const [dying, living] = [connect(local), connect(local)];
    const lost = controlledHandler();
    await dying.queue.consume('bulk', 'mkta', 2, lost.handle);
    for (let sequence = 0; sequence < 3; sequence++) await local.publish(sampleMessage(sequence));
    await lost.next();
    await lost.next();
    dying.die();
    await turn();
    const found = controlledHandler();
    await living.queue.consume('bulk', 'mkta', 3, found.handle);
    await clock.advance(1_000);
    const runs = [await found.next(), await found.next(), await found.next()];
    expect(runs.map(({ message }) => message.batchId).toSorted()).toEqual([
      'batch-0',
      'batch-1',
      'batch-2',
    ]);
    for (const run of runs) run.resolve();
    await local.close();
    living.die();
  });
});
