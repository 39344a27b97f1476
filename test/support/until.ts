import { setTimeout as wait } from 'node:timers/promises';

/** How long to wait for something of another process, and how often to look. */
export interface Patience {
  withinMs: number;
  everyMs?: number;
}

/**
 * Looks at another process until `look` gives something other than undefined. What `look` throws
 * counts as "not yet"; once the time is over, an Error says what was waited for and how the last
 * look went.
 */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined> | T | undefined,
  { withinMs, everyMs = 50 }: Patience,
): Promise<T> {
  const end = Date.now() + withinMs;
  let last: unknown = 'nothing yet';
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined) return found;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`${what}: not within ${withinMs} ms`, { cause: last });
    await wait(everyMs);
  }
}

/** Waits for a process to go; an Error when it does not within the time. */
export async function within<T>(what: string, ms: number, promise: Promise<T>): Promise<T> {
  const late = new AbortController();
  try {
    return await Promise.race([
      promise,
      wait(ms, undefined, { signal: late.signal }).then(() => {
        throw new Error(`${what}: not within ${ms} ms`);
      }),
    ]);
  } finally {
    late.abort();
  }
}
