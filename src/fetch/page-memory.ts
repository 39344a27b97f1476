import type { Clock } from '../base/clock.ts';

/**
 * Decoded bytes of pages that a process holds at once. Parsing multiplies them: 22 times for a page of empty JSON
 * objects. Pages that do not fit wait, in the order of asking.
 */
export interface PageMemory {
  /** Starts a share that holds nothing. */
  share(): PageShare;
}

/** What one visit holds of the page memory. */
export interface PageShare {
  /** Resolves once `bytes` more are held. A share that holds some gets more at once: shares that wait for each other
   *  would never go on. Rejects with the signal's reason. */
  reserve(bytes: number, signal?: AbortSignal): Promise<void>;
  /** Releases what was reserved beyond `bytes`. */
  shrink(bytes: number): void;
  /** Releases everything. */
  release(): void;
  /** Milliseconds spent waiting in `reserve`. */
  readonly waitedMs: number;
}

/** Options for createPageMemory(). */
export interface PageMemoryOptions {
  /** Bytes held at once. A larger page is alone. */
  maxBytes: number;
  clock: Clock;
}

interface Waiter {
  bytes: number;
  grant(): void;
}

/** Creates a page memory in which nothing is held. */
export function createPageMemory({ maxBytes, clock }: PageMemoryOptions): PageMemory {
  let held = 0;
  const waiting = new Set<Waiter>();

  const fits = (bytes: number) => held === 0 || held + bytes <= maxBytes;

  const free = (bytes: number) => {
    held -= bytes;
    for (const waiter of waiting) {
      if (!fits(waiter.bytes)) return;
      waiting.delete(waiter);
      held += waiter.bytes;
      waiter.grant();
    }
  };

  const wait = (bytes: number, granted: () => void, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const leave = () => {
        waiting.delete(waiter);
        reject(signal!.reason);
      };
      const waiter = {
        bytes,
        grant: () => {
          signal?.removeEventListener('abort', leave);
          granted();
          resolve();
        },
      };
      waiting.add(waiter);
      signal?.addEventListener('abort', leave, { once: true });
    });

  return {
    share: () => {
      let own = 0;
      let waitedMs = 0;
      const shrink = (bytes: number) => {
        const surplus = own - bytes;
        if (surplus <= 0) return;
        own = bytes;
        free(surplus);
      };
      return {
        reserve: async (bytes, signal) => {
          signal?.throwIfAborted();
          if (own > 0 || (waiting.size === 0 && fits(bytes))) {
            held += bytes;
            own += bytes;
            return;
          }
          const began = clock.now();
          const granted = () => {
            own += bytes;
          };
          try {
            await wait(bytes, granted, signal);
          } finally {
            waitedMs += clock.now() - began;
          }
        },
        shrink,
        release: () => shrink(0),
        get waitedMs() {
          return waitedMs;
        },
      };
    },
  };
}
