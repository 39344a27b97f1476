import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { AckPolicy, connect, type JetStreamManager, nanos, RetentionPolicy } from 'nats';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { findEngine } from '../../../test/engines/missing.ts';
import {
  findNats,
  type RunningNats,
  startNats,
  startNatsCluster,
} from '../../../test/engines/nats.ts';
import { freePort } from '../../../test/support/servers/ports.ts';
import { slack } from '../../../test/support/time/until.ts';
import { systemClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import type { Fault } from '../../contract/fault.ts';
import { controlledHandler } from '../conformance/controlled-handler.ts';
import { sampleMessage } from '../conformance.ts';
import type { Queue } from '../queue.ts';
import { type JetStreamQueueOptions, openJetStreamQueue } from './open.ts';

const absent = await findEngine(findNats()).then((found) =>
  'missing' in found ? found.missing : null,
);
const lines: string[] = [];
const log = createLog('debug', 'test', { write: (line) => void lines.push(line) });

/** Long enough for a server to start, short enough to time out quickly if it is down. */
const timing = { requestMs: 500, heartbeatMs: 500, watchMs: 100, electionMs: 300 };
const ended: (() => Promise<unknown>)[] = [];
let directory: string;

const start = async (port?: number, folder = directory): Promise<RunningNats> => {
  const server = await startNats({ directory: folder, ...(port === undefined ? {} : { port }) });
  if ('missing' in server) throw new Error(server.missing);
  ended.push(server.kill);
  return server;
};
const ownedBy = (id: string) => async () => id;
const openQueue = (url: string, more: Partial<JetStreamQueueOptions> = {}): Queue => {
  const queue = openJetStreamQueue({ url, timing, log, owner: ownedBy('one'), ...more });
  ended.unshift(() => queue.close());
  return queue;
};
/** Retries until the attempt succeeds, as the sweep does. */
const retryUntilAvailable = async (attempt: () => Promise<unknown>): Promise<void> => {
  for (;;) {
    try {
      await attempt();
      return;
    } catch (error) {
      log.info({ error: String(error) }, 'attempt failed');
      expect(error).toMatchObject({ code: 'unavailable' });
      await systemClock.sleep(20);
    }
  }
};
const manage = async (url: string): Promise<JetStreamManager> => {
  const connection = await connect({ servers: url.split(','), reconnect: false });
  ended.unshift(() => connection.close());
  return connection.jetstreamManager({ checkAPI: false });
};
/** Resolves with the stream's leader once it has three current replicas. */
const leaderOfThree = async (manager: JetStreamManager): Promise<string> => {
  for (;;) {
    const info = await manager.streams.info('gleaner').catch(() => null);
    const { leader, replicas } = info?.cluster ?? {};
    if (info?.config.num_replicas === 3 && replicas?.every(({ current }) => current) && leader)
      return leader;
    await systemClock.sleep(20);
  }
};

beforeEach(({ onTestFailed }) => {
  directory = mkdtempSync(join(tmpdir(), 'gleaner-nats-'));
  lines.length = 0;
  onTestFailed(() => console.log(lines.join('')));
});
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
  rmSync(directory, { recursive: true, force: true });
});

describe.skipIf(absent)(`JetStream queue under faults${absent ? ` (${absent})` : ''}`, () => {
  test('opens while the server is down, fails fast and works once it is up', async () => {
    const port = await freePort();
    const queue = openQueue(`nats://127.0.0.1:${port}`);
    const handler = controlledHandler();
    await queue.consume('bulk', 'mkta', 2, handler.handle);
    const before = Date.now();
    await expect(queue.publish(sampleMessage(0))).rejects.toMatchObject({ code: 'unavailable' });
    await expect(queue.ping()).rejects.toMatchObject({ code: 'unavailable' });
    expect(Date.now() - before).toBeLessThan(1_000 * slack);
    await start(port);
    await retryUntilAvailable(queue.ping);
    await retryUntilAvailable(() => queue.publish(sampleMessage(1)));
    const run = await handler.next();
    expect(run.message).toEqual(sampleMessage(1));
    run.resolve();
  });

  test('publishes as soon as a server is up that was down for a moment', async () => {
    const server = await start();
    const queue = openQueue(server.url, { timing: { ...timing, electionMs: 30_000 } });
    await queue.publish(sampleMessage(0));
    await server.kill();
    const published = Promise.all([1, 2].map((sequence) => queue.publish(sampleMessage(sequence))));
    await start(server.port);
    expect(await published).toEqual([true, true]);
  });

  test('ends a publish that waits for a server when it is closed', async () => {
    const queue = openQueue(`nats://127.0.0.1:${await freePort()}`, {
      timing: { ...timing, electionMs: 60_000 },
    });
    const published = queue.publish(sampleMessage(0));
    await Promise.all([
      expect(published).rejects.toMatchObject({ code: 'unavailable' }),
      queue.close(),
    ]);
  });

  test('closes the connections to a server that accepts them but does not respond', async () => {
    const port = await freePort();
    const mute = createServer().listen(port, '127.0.0.1');
    ended.unshift(async () => mute.close());
    openQueue(`nats://127.0.0.1:${port}`);
    const [socket] = (await once(mute, 'connection')) as [Socket];
    // The server continues after the client has given up.
    await once(mute, 'connection');
    socket.write('INFO {"server_id":"x","version":"2.9.10","max_payload":1048576}\r\n');
    socket.on('error', () => {}).resume();
    if (!socket.closed) await once(socket, 'close');
  });

  test('keeps messages and resumes consumers after a server is killed and restarted', async () => {
    const server = await start();
    const queue = openQueue(server.url);
    await retryUntilAvailable(queue.ping);
    for (let sequence = 0; sequence < 5; sequence += 1)
      await retryUntilAvailable(() => queue.publish(sampleMessage(sequence)));
    const handler = controlledHandler();
    await queue.consume('bulk', 'mkta', 1, handler.handle);
    const first = await handler.next();
    await server.kill();
    await start(server.port);
    await retryUntilAvailable(queue.ping);
    first.resolve();
    const seen = new Set<string>();
    while (seen.size < 4) {
      const run = await handler.next();
      if (run.message.batchId !== 'batch-0') seen.add(run.message.batchId);
      run.resolve();
    }
    expect([...seen]).toEqual(['batch-1', 'batch-2', 'batch-3', 'batch-4']);
  });

  test('recreates stream and consumers on a server that lost its data', async () => {
    const server = await start();
    const [publisher, worker] = [openQueue(server.url), openQueue(server.url)];
    await retryUntilAvailable(publisher.ping);
    const [bulk, single] = [controlledHandler(), controlledHandler()];
    await worker.consume('bulk', 'mkta', 2, bulk.handle);
    await worker.consume('single', 'mktb', 2, single.handle);
    await publisher.publish(sampleMessage(0));
    const lost = await bulk.next();
    await server.kill();
    rmSync(directory, { recursive: true });
    await start(server.port);
    await retryUntilAvailable(() => publisher.publish(sampleMessage(1)));
    await retryUntilAvailable(() =>
      publisher.publish(sampleMessage(2, { lane: 'single', market: 'mktb' })),
    );
    const [one, two] = [await bulk.next(), await single.next()];
    expect([one.message.batchId, two.message.batchId]).toEqual(['batch-1', 'batch-2']);
    // An acknowledgement for the lost stream must not apply to a message of the new one.
    lost.resolve();
    one.reject(new Error('broken'));
    two.resolve();
    const again = await bulk.next();
    expect(again.message.batchId).toBe('batch-1');
    again.resolve();
  });

  test('recreates a deleted stream on publish or consume', async () => {
    const server = await start();
    const queue = openQueue(server.url);
    await retryUntilAvailable(queue.ping);
    const handler = controlledHandler();
    await retryUntilAvailable(() => queue.publish(sampleMessage(0)));
    await queue.consume('bulk', 'mkta', 2, handler.handle);
    (await handler.next()).resolve();
    const manager = await manage(server.url);
    await manager.streams.delete('gleaner');
    await queue.publish(sampleMessage(1));
    const run = await handler.next();
    expect(run.message.batchId).toBe('batch-1');
    run.resolve();
  });

  test('recreates a deleted consumer without losing messages', async () => {
    const server = await start();
    const queue = openQueue(server.url);
    await retryUntilAvailable(queue.ping);
    const handler = controlledHandler();
    await queue.consume('bulk', 'mkta', 1, handler.handle);
    await retryUntilAvailable(() => queue.publish(sampleMessage(0)));
    (await handler.next()).resolve();
    const manager = await manage(server.url);
    await manager.consumers.delete('gleaner', 'bulk-mkta');
    for (const sequence of [1, 2, 3]) await queue.publish(sampleMessage(sequence));
    for (const sequence of [1, 2, 3]) {
      const run = await handler.next();
      expect(run.message.batchId).toBe(`batch-${sequence}`);
      run.resolve();
    }
  });

  test('recreates a consumer whose messages are never acknowledged', async () => {
    const server = await start();
    const queue = openQueue(server.url, { timing: { ...timing, heldMs: 500 } });
    await retryUntilAvailable(queue.ping);
    const handler = controlledHandler();
    const consumer = await queue.consume('bulk', 'mkta', 2, handler.handle);
    await retryUntilAvailable(() => queue.publish(sampleMessage(0)));
    (await handler.next()).resolve();
    await consumer.stop();
    // Another client takes all slots for an hour, so that nothing is delivered.
    const connection = await connect({ servers: server.url });
    ended.unshift(() => connection.close());
    const manager = await connection.jetstreamManager();
    for (const sequence of [1, 2, 3]) await queue.publish(sampleMessage(sequence));
    await manager.consumers.update('gleaner', 'bulk-mkta', { ack_wait: nanos(3_600_000) });
    const thief = await connection.jetstream().consumers.get('gleaner', 'bulk-mkta');
    for (let taken = 0; taken < 2; taken += 1) await thief.next();
    await queue.consume('bulk', 'mkta', 2, handler.handle);
    const seen = new Set<string>();
    while (seen.size < 3) {
      const run = await handler.next();
      seen.add(run.message.batchId);
      run.resolve();
    }
    expect(seen).toEqual(new Set(['batch-1', 'batch-2', 'batch-3']));
  });

  test('redelivers a message that is not extended', async () => {
    const server = await start();
    const queue = openQueue(server.url, { timing: { ...timing, ackWaitMs: 200 } });
    await retryUntilAvailable(queue.ping);
    const handler = controlledHandler();
    await queue.consume('bulk', 'mkta', 2, handler.handle);
    await retryUntilAvailable(() => queue.publish(sampleMessage(0)));
    const [first, again] = [await handler.next(), await handler.next()];
    expect(again.message).toEqual(first.message);
    first.resolve();
    again.resolve();
  });

  test('discards an invalid message and continues', async () => {
    const server = await start();
    const queue = openQueue(server.url);
    await retryUntilAvailable(queue.ping);
    const handler = controlledHandler();
    await queue.consume('bulk', 'mkta', 1, handler.handle);
    await retryUntilAvailable(() => queue.publish(sampleMessage(0)));
    (await handler.next()).resolve();
    const connection = await connect({ servers: server.url });
    ended.unshift(() => connection.close());
    await connection.jetstream().publish('gleaner.work.bulk.mkta.nonsense', 'nonsense');
    await queue.publish(sampleMessage(1));
    (await handler.next()).resolve();
    await queue.close();
    const manager = await connection.jetstreamManager();
    expect((await manager.streams.info('gleaner')).state.messages).toBe(0);
  });

  test('rejects messages while the stream is full', async () => {
    const server = await start();
    const queue = openQueue(server.url);
    await retryUntilAvailable(queue.ping);
    await retryUntilAvailable(() => queue.publish(sampleMessage(0)));
    const manager = await manage(server.url);
    await manager.streams.update('gleaner', { max_msgs: 1 });
    await expect(queue.publish(sampleMessage(1))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('maximum messages exceeded'),
    });
    await manager.streams.purge('gleaner');
    expect(await queue.publish(sampleMessage(1))).toBe(true);
  });

  test('updates a stream and consumers with other settings', async () => {
    const server = await start();
    const manager = await manage(server.url);
    const subjects = ['gleaner.work.*.*'];
    await manager.streams.add({ name: 'gleaner', subjects, retention: RetentionPolicy.Workqueue });
    await manager.consumers.add('gleaner', {
      durable_name: 'bulk-mkta',
      filter_subject: 'gleaner.work.bulk.mkta',
      ack_policy: AckPolicy.Explicit,
    });
    const queue = openQueue(server.url);
    await retryUntilAvailable(queue.ping);
    const handler = controlledHandler();
    await queue.consume('bulk', 'mkta', 1, handler.handle);
    await retryUntilAvailable(() => queue.publish(sampleMessage(0)));
    const run = await handler.next();
    expect(run.message).toEqual(sampleMessage(0));
    expect(await queue.publish(sampleMessage(0))).toBe(false);
    run.resolve();
    const { config } = await manager.streams.info('gleaner');
    expect([config.max_msgs, config.max_bytes, config.max_age]).not.toContain(-1);
  });

  test('refuses the stream of another installation, and leaves its work alone', async () => {
    const server = await start();
    const queue = openQueue(server.url);
    await retryUntilAvailable(queue.ping);
    await retryUntilAvailable(() => queue.publish(sampleMessage(0)));
    const other = openQueue(server.url, { owner: ownedBy('two') });
    const handler = controlledHandler();
    await other.consume('bulk', 'mkta', 1, handler.handle);
    const refused = {
      name: 'ForeignQueueError',
      message: expect.stringMatching(
        /gleaner on NATS belongs to the installation one, .* two: set NATS_URL/,
      ),
      clientMessage: 'The queue is unavailable.',
    };
    const ping = () => other.ping().catch((thrown: Fault) => thrown);
    let error = await ping();
    while (error?.code === 'unavailable') {
      await systemClock.sleep(20);
      error = await ping();
    }
    expect(error).toMatchObject(refused);
    await expect(other.publish(sampleMessage(1))).rejects.toMatchObject(refused);
    await other.close();
    const { state } = await (await manage(server.url)).streams.info('gleaner');
    expect(state.messages).toBe(1);
    expect(state.consumer_count).toBe(0);
  });

  test('replicates the stream on a cluster and survives the loss of a server', async () => {
    const servers = await startNatsCluster(3);
    if ('missing' in servers) throw new Error(servers.missing);
    ended.push(...servers.map((server) => server.kill));
    const election = { ...timing, requestMs: 2_000, electionMs: 30_000 };
    const queue = openQueue(servers[0]!.url, { timing: election });
    await queue.publish(sampleMessage(0));
    const handler = controlledHandler();
    await queue.consume('bulk', 'mkta', 1, handler.handle);
    (await handler.next()).resolve();
    const leader = await leaderOfThree(await manage(servers[0]!.url));
    await servers[Number(leader.split('-')[1])]!.kill();
    await queue.publish(sampleMessage(1));
    const run = await handler.next();
    expect(run.message.batchId).toBe('batch-1');
    run.resolve();
  });

  test.each([true, false])(
    'lets the process exit after close (server running: %s)',
    async (isRunning) => {
      const port = await freePort();
      if (isRunning) await start(port);
      const program = `
      const { openJetStreamQueue } = await import(${JSON.stringify(new URL('open.ts', import.meta.url).href)});
      const { createLog } = await import(${JSON.stringify(new URL('../../base/log.ts', import.meta.url).href)});
      const options = { url: 'nats://127.0.0.1:${port}', timing: { electionMs: 100 }, log: createLog('silent', 'test'), owner: async () => 'one' };
      const queue = openJetStreamQueue(options);
      await queue.consume('bulk', 'mkta', 2, async () => {});
      const message = ${JSON.stringify(sampleMessage(0))};
      const outcome = await new Promise((resolve) => {
        const attempt = (left) => queue.publish(message).then(() => resolve('published'), (error) =>
          left === 0 ? resolve(error.code) : setTimeout(attempt, 50, left - 1));
        attempt(${isRunning ? 1_000 : 5});
      });
      await queue.close();
      console.log(outcome);
    `;
      const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const [output, errors] = await Promise.all([
        text(child.stdout),
        text(child.stderr),
        once(child, 'exit'),
      ]);
      expect({ output, errors, code: child.exitCode }).toEqual({
        output: isRunning ? 'published\n' : 'unavailable\n',
        errors: '',
        code: 0,
      });
    },
  );
});
