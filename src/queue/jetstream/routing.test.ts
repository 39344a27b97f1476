import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { shareEngine } from '../../../test/engines/share.ts';
import { type FaultyLink, startLink } from '../../../test/support/faults/link.ts';
import { until } from '../../../test/support/time/until.ts';
import { systemClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import { Fault } from '../../contract/fault.ts';
import { sampleMessage } from '../conformance.ts';
import type { Queue, QueueMessage } from '../queue.ts';
import { openJetStreamQueue } from './open.ts';

const server = await shareEngine('nats');
const absent = 'missing' in server ? server.missing : null;
const log = createLog('silent', 'test');
const timing = { ackWaitMs: 1_000, requestMs: 1_000, presenceMs: 100, absentMs: 1_000 };

type Handle = (message: QueueMessage, extend: () => void) => Promise<void>;

/** A process that consumes, and the batches that it has begun to handle. */
interface Process {
  queue: Queue;
  link: FaultyLink;
  begun: string[];
  /** Batches that it took over. */
  takenOver: string[];
  /** Handles the next messages. */
  handle: Handle;
}

const soon = <T>(what: string, check: () => Promise<T | undefined>) =>
  until(what, check, { withinMs: 10_000 });

let ended: (() => Promise<unknown>)[] = [];
let sequence = 0;

afterEach(async () => {
  for (const end of ended.splice(0)) await end();
  ended = [];
});

describe.skipIf(absent)(`messages of places${absent ? ` (${absent})` : ''}`, () => {
  const start = async (count: number): Promise<Process[]> => {
    if ('missing' in server) throw new Error(server.missing);
    const name = `test-${randomUUID()}`;
    const processes: Process[] = [];
    for (let index = 0; index < count; index++) {
      const url = new URL(server.address);
      const link = await startLink(Number(url.port));
      url.port = String(link.port);
      const placeOf = ({ region }: QueueMessage) => ({ name: region, owners: 1 });
      const owner = async () => 'one';
      const queue = openJetStreamQueue({ url: url.href, name, timing, log, owner, placeOf });
      const process: Process = { queue, link, begun: [], takenOver: [], handle: async () => {} };
      ended.unshift(
        () => queue.close(),
        () => link.stop(),
      );
      await soon('the queue is connected', () =>
        queue.ping().then(
          () => true,
          () => undefined,
        ),
      );
      await queue.consume('bulk', 'mkta', 100, (message, extend) => {
        process.begun.push(message.batchId);
        if (message.isTakenOver) process.takenOver.push(message.batchId);
        return process.handle(message, extend);
      });
      processes.push(process);
    }
    return processes;
  };

  /** Publishes messages of a place. Returns the batches. */
  const publish = async ({ queue }: Process, region: string, count: number): Promise<string[]> => {
    const batches: string[] = [];
    for (let index = 0; index < count; index++) {
      sequence += 1;
      const message = sampleMessage(sequence, { region });
      await queue.publish(message);
      batches.push(message.batchId);
    }
    return batches;
  };

  /**
   * Resolves with the processes that handle messages of a place, once they have begun all of them.
   */
  const handlersOf = async (
    processes: Process[],
    region: string,
    count: number,
  ): Promise<Process[]> => {
    const batches = await publish(processes[0]!, region, count);
    const handlers = () =>
      processes.filter(({ begun }) => batches.some((batch) => begun.includes(batch)));
    const isBegun = async () =>
      batches.every((batch) => processes.some(({ begun }) => begun.includes(batch))) || undefined;
    await soon('all messages are handled', isBegun);
    return handlers();
  };

  /**
   * Resolves with the only process that handles messages of a place, once the processes know each
   * other.
   */
  const ownerOf = (processes: Process[], region: string): Promise<Process> =>
    soon(`${region} has an owner`, async () => {
      const handlers = await handlersOf(processes, region, 6);
      return handlers.length === 1 ? handlers[0] : undefined;
    });

  test('are handled by its owner', async () => {
    const processes = await start(3);
    const regions = Array.from({ length: 8 }, (_, index) => `region-${index}`);
    const owners = new Map<string, Process>();
    for (const region of regions) owners.set(region, await ownerOf(processes, region));
    expect(new Set(owners.values()).size).toBeGreaterThan(1);
    for (const region of regions)
      expect(await handlersOf(processes, region, 12)).toEqual([owners.get(region)]);
  });

  test('are handled by another process when the owner stops', async () => {
    const processes = await start(3);
    const owner = await ownerOf(processes, 'id');
    const others = processes.filter((each) => each !== owner);
    await owner.queue.close();
    expect(await handlersOf(others, 'id', 6)).toHaveLength(1);
  });

  test('in progress are redelivered to another process when the owner loses its connection', async () => {
    const processes = await start(2);
    const owner = await ownerOf(processes, 'id');
    const other = processes.find((each) => each !== owner)!;
    const released = Promise.withResolvers<void>();
    owner.handle = () => released.promise;
    ended.unshift(async () => {
      released.resolve();
      owner.link.cut();
    });
    // Each process receives some of them, and hands those of the owner over to it.
    const batches = await publish(other, 'id', 24);
    await soon(
      'the owner begins',
      async () => batches.every((id) => owner.begun.includes(id)) || undefined,
    );
    owner.link.silence();
    await soon(
      'the other one begins',
      async () => batches.every((id) => other.begun.includes(id)) || undefined,
    );
    expect(other.takenOver.length).toBeGreaterThan(0);
  });

  test('stay with an owner that works on them for long, and are delivered again when it fails', async () => {
    const processes = await start(2);
    const owner = await ownerOf(processes, 'id');
    const other = processes.find((each) => each !== owner)!;
    const worked = Promise.withResolvers<void>();
    let extensions = 0;
    owner.handle = async (_message, extend) => {
      while (extensions < 30) {
        await systemClock.sleep(timing.ackWaitMs / 10);
        extensions += 1;
        extend();
      }
      worked.resolve();
    };
    const [long] = await publish(other, 'id', 1);
    await worked.promise;
    const timesBegun = (id: string) =>
      processes.flatMap(({ begun }) => begun).filter((one) => one === id).length;
    expect(timesBegun(long!)).toBe(1);

    let failures = 0;
    owner.handle = async () => {
      failures += 1;
      if (failures === 1) throw new Fault('unavailable', 'the store is away');
    };
    const [failed] = await publish(other, 'id', 1);
    await soon(
      'the message is delivered again',
      async () => timesBegun(failed!) === 2 || undefined,
    );
    expect(owner.begun.filter((id) => id === failed)).toHaveLength(2);
  });
});
