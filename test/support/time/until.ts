import { setTimeout as wait } from 'node:timers/promises';

/**
 * Factor for every timeout of a wait. A timeout only ends a test that hangs: a test must not need a
 * quick machine, and tests name the times of an idle one.
 */
export const slack = 4;

/** Timeout, which is multiplied by `slack`, and poll interval of until(). */
export interface WaitOptions {
  withinMs: number;
  everyMs?: number;
}

/**
 * Polls until `check` returns something other than undefined. An error thrown by `check` counts as
 * "not yet". After the timeout throws an Error that names `what`, with the last error as its cause.
 */
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined> | T | undefined,
  { withinMs, everyMs = 50 }: WaitOptions,
): Promise<T> {
  const limitMs = withinMs * slack;
  const end = Date.now() + limitMs;
  let last: unknown = 'nothing yet';
  for (;;) {
    try {
      const found = await check();
      if (found !== undefined) return found;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`${what}: not within ${limitMs} ms`, { cause: last });
    await wait(everyMs);
  }
}

/**
 * Resolves with the promise. Throws an Error that names `what` after `ms` milliseconds, multiplied
 * by `slack`.
 */
export async function withTimeout<T>(what: string, ms: number, promise: Promise<T>): Promise<T> {
  const timeout = new AbortController();
  try {
    return await Promise.race([
      promise,
      wait(ms * slack, undefined, { signal: timeout.signal }).then(() => {
        throw new Error(`${what}: not within ${ms * slack} ms`);
      }),
    ]);
  } finally {
    timeout.abort();
  }
}
