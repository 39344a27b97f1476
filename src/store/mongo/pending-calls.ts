import { Fault } from '../../contract/fault.ts';

/** Calls to a database that have not ended. */
export interface PendingCalls {
  /** Resolves with the result of a call. Throws a LostCallError if it does not end in time. */
  track<T>(call: Promise<T>): Promise<T>;
  /** Limits the calls in progress to `endMs` from now. */
  hurry(): void;
}

/** Thrown for a call that did not end. It may take effect later. */
export class LostCallError extends Fault {
  constructor(address: string) {
    super('unavailable', `${address} does not answer: a command did not end`, {
      component: 'store',
    });
  }
}

/** Time limits of calls, in milliseconds. */
export interface CallLimits {
  /** Longer than any call takes: each command fails after 30 s without data. */
  maxMs: number;
  /** Time to end after connections of the client were lost. */
  endMs: number;
}

const defaultLimits: CallLimits = { maxMs: 120_000, endMs: 10_000 };

/**
 * Limits the time of calls: the driver (7.9) waits forever for a command that it writes to a socket
 * at the moment when the server closes it.
 */
export function createPendingCalls(
  address: string,
  { maxMs, endMs }: CallLimits = defaultLimits,
): PendingCalls {
  const pending = new Set<() => void>();
  return {
    async track(call) {
      const { promise: lost, reject } = Promise.withResolvers<never>();
      const end = () => reject(new LostCallError(address));
      const timer = setTimeout(end, maxMs);
      timer.unref();
      pending.add(end);
      try {
        return await Promise.race([call, lost]);
      } finally {
        clearTimeout(timer);
        pending.delete(end);
      }
    },
    hurry() {
      for (const end of pending) setTimeout(end, endMs).unref();
    },
  };
}
