import { randomUUID } from 'node:crypto';
import { afterAll, describe } from 'vitest';
import { findEngine } from '../../../test/engines/missing.ts';
import { startNats } from '../../../test/engines/nats.ts';
import { systemClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import { queueContract } from '../contract.ts';
import { openJetStreamQueue } from './open.ts';

const server = await findEngine(startNats());
const absent = 'missing' in server ? server.missing : null;
const log = createLog('silent', 'test');

afterAll(async () => {
  if (!('missing' in server)) await server.stop();
});

describe.skipIf(absent)(`on a nats-server${absent ? ` (${absent})` : ''}`, () => {
  queueContract(async () => {
    if ('missing' in server) throw new Error(server.missing);
    const name = `test-${randomUUID()}`;
    const timing = { ackWaitMs: 3_000 };
    const options = { url: server.url, name, timing, log };
    const [queue, other] = [openJetStreamQueue(options), openJetStreamQueue(options)];
    // Opening does not wait for the connection, but the contract assumes an available engine.
    const connected = async (ping: () => Promise<void>) => {
      while (
        !(await ping().then(
          () => true,
          () => false,
        ))
      )
        await systemClock.sleep(5);
    };
    await Promise.all([connected(queue.ping), connected(other.ping)]);
    return {
      queue,
      other,
      ackWaitMs: timing.ackWaitMs,
      advance: (ms) => systemClock.sleep(ms),
      remove: async () => {
        await Promise.all([queue.close(), other.close()]);
      },
    };
  });
});
