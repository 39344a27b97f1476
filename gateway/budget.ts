import type { GatewayBudget } from './service-client.ts';

interface Waiting {
  bytes: number;
  start(): void;
}

/** Creates a budget of `totalBytes` for one process. Reservations that do not fit wait in their order. */
export function createBudget(totalBytes: number): GatewayBudget {
  let free = totalBytes;
  let queue: Waiting[] = [];
  const serve = () => {
    while (queue.length > 0 && queue[0]!.bytes <= free) queue.shift()!.start();
  };
  return {
    reserve: (_userId, wanted, signal) =>
      new Promise((resolve, reject) => {
        // A larger body than the budget waits until it is the only one.
        const bytes = Math.min(wanted, totalBytes);
        const abort = () => {
          queue = queue.filter((other) => other !== waiting);
          reject(signal.reason);
          serve();
        };
        const waiting: Waiting = {
          bytes,
          start() {
            signal.removeEventListener('abort', abort);
            free -= bytes;
            let isFreed = false;
            resolve(() => {
              if (isFreed) return;
              isFreed = true;
              free += bytes;
              serve();
            });
          },
        };
        if (signal.aborted) return reject(signal.reason);
        signal.addEventListener('abort', abort, { once: true });
        queue.push(waiting);
        serve();
      }),
  };
}
