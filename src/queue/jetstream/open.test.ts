import { randomUUID } from 'node:crypto';
import { describe } from 'vitest';
import { shareEngine } from '../../../test/engines/share.ts';
import { systemClock } from '../../base/clock.ts';
import { createLog } from '../../base/log.ts';
import { queueConformance } from '../conformance.ts';
import { openJetStreamQueue } from './open.ts';

const server = await shareEngine('nats');
const absent = 'missing' in server ? server.missing : null;
const log = createLog('silent', 'test');

describe.skipIf(absent)(`on a nats-server${absent ? ` (${absent})` : ''}`, () => {
  queueConformance(async () => {
    if ('missing' in server) throw new Error(server.missing);
    const name = `test-${randomUUID()}`;
    const timing = { ackWaitMs: 3_000 };
    const options = { url: server.address, name, timing, log, owner: async () => 'one' };
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
