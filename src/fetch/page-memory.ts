import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';

/**
 * Memory limit for the decoded pages of a process and for the records read from them. Parsing
 * multiplies the size of a page: 22 times for one of empty JSON objects. Reservations that do not
 * fit wait, first come, first served.
 */
export interface PageMemory {
  /** Creates an empty share. */
  share(): PageShare;
  readonly records: RecordMemory;
}

/**
 * Part of the page memory that records use until they are stored. Pages use the rest, but always at
 * least one page.
 */
export interface RecordMemory {
  add(bytes: number): void;
  remove(bytes: number): void;
  /**
   * True if records take at least half of the memory. They are then stored early, and not kept in
   * memory.
   */
  readonly isFull: boolean;
}

/** Options for createPageMemory(). */
export interface PageMemoryOptions {
  /** Maximum bytes reserved at a time. A larger page is granted alone. */
  maxBytes: number;
  clock: Clock;
}

interface Waiter {
  bytes: number;
  grant(): void;
}

/** Creates a page memory without reservations. */
export function createPageMemory({ maxBytes, clock }: PageMemoryOptions): PageMemory {
  const pool = new MemoryPool(maxBytes);
  return { share: () => new PageShare(pool, clock), records: pool.records };
}

class MemoryPool {
  readonly #maxBytes: number;
  readonly #waiting = new Set<Waiter>();
  readonly records: RecordMemory;
  #reserved = 0;
  #recordBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    const isFull = () => this.#recordBytes >= maxBytes / 2;
    this.records = {
      add: (bytes) => {
        this.#recordBytes += bytes;
      },
      remove: (bytes) => {
        this.#recordBytes -= bytes;
        this.#grant();
      },
      get isFull() {
        return isFull();
      },
    };
  }

  /**
   * Reserves bytes if none are waited for and they fit, or if `unconditional`. Returns false
   * otherwise.
   */
  tryReserve(bytes: number, unconditional: boolean): boolean {
    if (!unconditional && (this.#waiting.size > 0 || !this.#fits(bytes))) return false;
    this.#reserved += bytes;
    return true;
  }

  /** Waits for a reservation; calls `granted` when it is made. */
  wait(bytes: number, granted: () => void, signal: AbortSignal | undefined): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const waiter: Waiter = {
        bytes,
        grant: () => {
          stopListening?.();
          granted();
          resolve();
        },
      };
      this.#waiting.add(waiter);
      const stopListening =
        signal &&
        onAbort(signal, () => {
          this.#waiting.delete(waiter);
          reject(signal.reason);
          this.#grant();
        });
    });
  }

  free(bytes: number): void {
    this.#reserved -= bytes;
    this.#grant();
  }

  #grant(): void {
    for (const waiter of this.#waiting) {
      if (!this.#fits(waiter.bytes)) return;
      this.#waiting.delete(waiter);
      this.#reserved += waiter.bytes;
      waiter.grant();
    }
  }

  #fits(bytes: number): boolean {
    return this.#reserved === 0 || this.#reserved + this.#recordBytes + bytes <= this.#maxBytes;
  }
}

/** Result of reservations that do not wait. */
const reserved = Promise.resolve();

/** Share of the page memory that one session holds. */
export class PageShare {
  readonly #pool: MemoryPool;
  readonly #clock: Clock;
  #bytes = 0;
  /** Total time spent waiting in `reserve`, in milliseconds. */
  waitedMs = 0;

  constructor(pool: MemoryPool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  /**
   * Resolves once `bytes` more are reserved. A share that holds memory is granted more without
   * waiting, since shares that wait for each other would deadlock. Rejects with the signal's
   * reason.
   */
  reserve(bytes: number, signal?: AbortSignal): Promise<void> {
    const isReserved = !signal?.aborted && this.#pool.tryReserve(bytes, this.#bytes > 0);
    if (!isReserved) return this.#wait(bytes, signal);
    this.#bytes += bytes;
    return reserved;
  }

  async #wait(bytes: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const add = () => {
      this.#bytes += bytes;
    };
    const startedAt = this.#clock.steady();
    try {
      await this.#pool.wait(bytes, add, signal);
    } finally {
      this.waitedMs += this.#clock.steady() - startedAt;
    }
  }

  /** Releases all but `bytes`. */
  shrink(bytes: number): void {
    const surplus = this.#bytes - bytes;
    if (surplus <= 0) return;
    this.#bytes = bytes;
    this.#pool.free(surplus);
  }

  /** Releases everything. */
  release(): void {
    this.shrink(0);
  }
}
