import { afterEach, beforeEach, expect, test } from 'vitest';
import type { BatchReference } from '../store/batches.ts';
import { controlledHandler } from './conformance/controlled-handler.ts';
import type { Queue } from './queue.ts';

/** Two clients of one empty engine, as in two processes. */
export interface Queues {
  queue: Queue;
  other: Queue;
  /** Time after which a message is redelivered unless `extend` is called. */
  ackWaitMs: number;
  /** Advances the engine's time. */
  advance(ms: number): Promise<void>;
  /** Closes both and removes the data. */
  remove(): Promise<void>;
}

/** Creates a message with a batch id derived from `sequence`. */
export function sampleMessage(
  sequence: number,
  change: Partial<BatchReference> = {},
): BatchReference {
  return {
    jobId: 'job-1',
    batchId: `batch-${sequence}`,
    market: 'mkta',
    region: 'id',
    lane: 'bulk',
    units: 50,
    attempt: 0,
    ...change,
  };
}

/** Defines the contract tests of the queue port. Every adapter's test file calls this. */
export function queueConformance(open: () => Promise<Queues>): void {
  let queues: Queues;
  let queue: Queue;
  let other: Queue;

  beforeEach(async () => {
    queues = await open();
    ({ queue, other } = queues);
  });
  afterEach(() => queues.remove());

  const publishAll = async (count: number) => {
    for (let sequence = 0; sequence < count; sequence += 1)
      await queue.publish(sampleMessage(sequence));
  };
  /** Resolves when everything published before has been delivered. */
  const roundTrip = async () => {
    const marker = controlledHandler();
    const consumer = await other.consume('single', 'marker', 1, marker.handle);
    await queue.publish(sampleMessage(0, { lane: 'single', market: 'marker' }));
    (await marker.next()).resolve();
    await consumer.stop();
  };

  test('delivers a message unchanged to the consumer of its lane and market', async () => {
    const [here, otherLane, otherMarket] = [
      controlledHandler(),
      controlledHandler(),
      controlledHandler(),
    ];
    await queue.consume('bulk', 'mkta', 2, here.handle);
    await queue.consume('single', 'mkta', 2, otherLane.handle);
    await queue.consume('bulk', 'mktb', 2, otherMarket.handle);
    const trace = {
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      tracestate: 'a=1',
    };
    const message = { ...sampleMessage(1, { attempt: 7 }), trace };
    await queue.publish(message);
    const run = await here.next();
    expect(run.message).toEqual(message);
    run.resolve();
    await roundTrip();
    expect([here, otherLane, otherMarket].map((handler) => handler.unclaimed())).toEqual([0, 0, 0]);
  });

  test('keeps messages until there is a consumer and delivers them in order', async () => {
    await publishAll(20);
    const handler = controlledHandler();
    await other.consume('bulk', 'mkta', 1, handler.handle);
    const order: string[] = [];
    for (let count = 0; count < 20; count += 1) {
      const run = await handler.next();
      order.push(run.message.batchId);
      run.resolve();
    }
    expect(order).toEqual(Array.from({ length: 20 }, (_, sequence) => `batch-${sequence}`));
    expect(handler.peak()).toBe(1);
  });

  test('ignores a message that is already queued or being handled', async () => {
    const message = sampleMessage(0);
    expect(await queue.publish(message)).toBe(true);
    expect(await queue.publish(message)).toBe(false);
    const handler = controlledHandler();
    const consumer = await queue.consume('bulk', 'mkta', 2, handler.handle);
    const run = await handler.next();
    expect(await queue.publish(message)).toBe(false);
    // The next attempt of a batch is another message: a worker publishes it before it acknowledges
    // this one.
    expect(await queue.publish({ ...message, attempt: 1 })).toBe(true);
    const next = await handler.next();
    expect(next.message.attempt).toBe(1);
    next.resolve();
    run.resolve();
    await consumer.stop();
    await roundTrip();
    expect(await queue.publish(message)).toBe(true);
  });

  test('limits concurrency over all consumers', async () => {
    const handler = controlledHandler();
    await queue.consume('bulk', 'mkta', 3, handler.handle);
    await other.consume('bulk', 'mkta', 3, handler.handle);
    await publishAll(12);
    const runs = [await handler.next(), await handler.next(), await handler.next()];
    await roundTrip();
    expect(handler.running()).toBe(3);
    const seen = new Set<string>();
    while (runs.length > 0) {
      const run = runs.shift()!;
      seen.add(run.message.batchId);
      run.resolve();
      if (seen.size + runs.length < 12) runs.push(await handler.next());
    }
    expect(seen.size).toBe(12);
    expect(handler.peak()).toBe(3);
  });

  test('applies the concurrency of the latest consume()', async () => {
    const handler = controlledHandler();
    const consumer = await queue.consume('bulk', 'mkta', 1, handler.handle);
    await publishAll(4);
    const first = await handler.next();
    await roundTrip();
    expect(handler.running()).toBe(1);
    first.resolve();
    await consumer.stop();
    await queue.consume('bulk', 'mkta', 3, handler.handle);
    const runs = [await handler.next(), await handler.next(), await handler.next()];
    expect(handler.running()).toBe(3);
    for (const run of runs) run.resolve();
  });

  test('redelivers a message after a delay if its handler rejects', async () => {
    const handler = controlledHandler();
    await queue.consume('bulk', 'mkta', 2, handler.handle);
    await publishAll(1);
    (await handler.next()).reject(new Error('broken'));
    await roundTrip();
    expect(handler.unclaimed()).toBe(0);
    await queues.advance(1_000);
    const again = await handler.next();
    expect(again.message).toEqual(sampleMessage(0));
    again.resolve();
    await queues.advance(2_000);
    await roundTrip();
    expect(handler.unclaimed()).toBe(0);
  });

  test('a failing message does not block the others', async () => {
    const handler = controlledHandler();
    await queue.consume('bulk', 'mkta', 2, handler.handle);
    await publishAll(6);
    const seen: string[] = [];
    while (seen.length < 5) {
      const run = await handler.next();
      if (run.message.batchId === 'batch-0') run.reject(new Error('broken'));
      else {
        seen.push(run.message.batchId);
        run.resolve();
      }
    }
    expect(seen).toEqual(['batch-1', 'batch-2', 'batch-3', 'batch-4', 'batch-5']);
  });

  test('does not redeliver a message that its handler extends', async () => {
    const handler = controlledHandler();
    await queue.consume('bulk', 'mkta', 2, handler.handle);
    await other.consume('bulk', 'mkta', 2, handler.handle);
    await publishAll(1);
    const run = await handler.next();
    for (let step = 0; step < 5; step += 1) {
      await queues.advance(queues.ackWaitMs / 3);
      run.extend();
    }
    await roundTrip();
    expect(handler.running()).toBe(1);
    run.resolve();
    await queues.advance(queues.ackWaitMs * 1.5);
    await roundTrip();
    expect(handler.unclaimed()).toBe(0);
  });

  test('stop() ends deliveries and waits for running handlers; other consumers continue', async () => {
    const [stopped, active] = [controlledHandler(), controlledHandler()];
    const consumer = await queue.consume('bulk', 'mkta', 1, stopped.handle);
    await publishAll(3);
    const run = await stopped.next();
    let ended = false;
    const stopping = consumer.stop().then(() => {
      ended = true;
    });
    await roundTrip();
    expect(ended).toBe(false);
    run.resolve();
    await stopping;
    await other.consume('bulk', 'mkta', 1, active.handle);
    for (const expected of ['batch-1', 'batch-2']) {
      const next = await active.next();
      expect(next.message.batchId).toBe(expected);
      next.resolve();
    }
    expect(stopped.unclaimed()).toBe(0);
  });

  test('close() waits for running handlers; later calls are rejected', async () => {
    const handler = controlledHandler();
    await queue.consume('bulk', 'mkta', 1, handler.handle);
    await publishAll(1);
    const run = await handler.next();
    let ended = false;
    const closing = queue.close().then(() => {
      ended = true;
    });
    await queues.advance(100);
    await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toBe(false);
    run.resolve();
    await closing;
    await expect(queue.publish(sampleMessage(2))).rejects.toMatchObject({
      code: 'unavailable',
      component: 'queue',
    });
    await expect(queue.ping()).rejects.toMatchObject({ code: 'unavailable', component: 'queue' });
    await queue.close();
  });

  test('ping() resolves while the engine is available', async () => {
    await expect(queue.ping()).resolves.toBeUndefined();
  });
}
