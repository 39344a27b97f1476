import type { Transport } from '@connectrpc/connect';
import { defaultConnectionLimits } from '../../base/connections.ts';

/**
 * Maximum calls in progress per connection. Below the stream limit of the core, which counts the
 * stream of a cancelled call for a moment.
 */
const maxCalls = defaultConnectionLimits.maxStreams / 2;

/**
 * Spreads calls over as many connections as they need. `create` creates a transport with a new
 * connection. Otherwise calls above the stream limit of one connection would wait behind calls that
 * wait for a job.
 */
export function poolTransports(create: () => Transport): Transport {
  const pool: { transport: Transport; calls: number }[] = [];
  const take = () => {
    const freeEntry = pool.find(({ calls }) => calls < maxCalls);
    const entry = freeEntry ?? { transport: create(), calls: 0 };
    if (freeEntry === undefined) pool.push(entry);
    entry.calls += 1;
    return entry;
  };
  return {
    async unary(...parameters) {
      const entry = take();
      try {
        return await entry.transport.unary(...parameters);
      } finally {
        entry.calls -= 1;
      }
    },
    async stream(...parameters) {
      const entry = take();
      const response = await entry.transport.stream(...parameters).catch((error) => {
        entry.calls -= 1;
        throw error;
      });
      const read = async function* () {
        try {
          yield* response.message;
        } finally {
          entry.calls -= 1;
        }
      };
      return { ...response, message: read() };
    },
  };
}
