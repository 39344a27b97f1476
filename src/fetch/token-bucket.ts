import { onAbort } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { OriginPause, OriginStore } from '../store/origin-state.ts';

/** Options of a TokenBucket. */
export interface TokenBucketOptions {
  origin: string;
  /** Interval between requests in milliseconds, over all workers. */
  intervalMs: number;
  reserve: OriginStore['reserve'];
  /** Returns true if no other process sends requests to the origin. */
  isAlone(): boolean;
  /** Receives the origin's pause with each reservation. */
  onPauseRead(pause: OriginPause): void;
  clock: Clock;
}

/**
 * Maximum time that one reservation covers in milliseconds, so that other workers get slots too.
 */
const maxAheadMs = 1000;

/**
 * The same without other workers, one of which may start at any time and then waits so long. Each
 * reservation that follows the one before covers twice its time, up to this one
 * (`npm run bench -- origins` counts the commands).
 */
const maxAheadAloneMs = 4000;

/**
 * Time of slots that are reserved for requests still to come, in milliseconds. Timers cannot tell
 * such slots apart, and a fast origin costs fewer reservations.
 */
const spareMs = 5;

/**
 * Time before the last reserved slot at which the next ones are reserved, in milliseconds: longer
 * than the store takes, so that no slot passes unreserved while requests wait.
 */
const leadMs = 250;

/** Delay after which a slot may still be used, in milliseconds: timers are not exact. */
const toleranceMs = 100;

/** Slots that no request has taken: `first + index * intervalMs`, for each index below `count`. */
interface Slots {
  readonly first: number;
  readonly intervalMs: number;
  readonly count: number;
  /** Index of the next slot. */
  index: number;
}

const nextOf = ({ first, index, intervalMs }: Slots) => first + index * intervalMs;

/** A request that waits for a slot. */
interface Waiter {
  resolve(slot: number): void;
  reject(error: unknown): void;
}

/**
 * Rate limit of one origin: a token bucket whose slots are one interval apart over all workers. It
 * reserves as many slots as requests wait, so that the slots that it does not need are left to
 * other workers; without others, those of up to four seconds. What waits while slots lie ahead is
 * reserved at once shortly before the last of them. A request that is aborted returns its slot to
 * the next one.
 */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  #intervalMs: number;
  /** Reserved slots, the earliest first. A fast origin has too many to keep one by one. */
  #reserved: Slots[] = [];
  /** Time of the last slot that was reserved. */
  #last = 0;
  /** Maximum time that the last reservation covered. */
  #aheadMs = maxAheadMs;
  /** Requests that wait for a reservation, in the order of their calls. */
  readonly #waiters = new Set<Waiter>();
  #isReserving = false;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#intervalMs = options.intervalMs;
  }

  /**
   * Resolves when one request may be sent; undefined if it may be sent at once. Rejects with the
   * signal's reason if aborted.
   */
  take(signal?: AbortSignal): Promise<void> | undefined {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const slot = this.#waiters.size === 0 ? this.#takeReserved() : undefined;
    if (slot !== undefined && this.#msUntil(slot) < 1) return undefined;
    return this.#wait(slot, signal);
  }

  async #wait(reserved: number | undefined, signal: AbortSignal | undefined): Promise<void> {
    const slot = reserved ?? (await this.#nextSlot(signal));
    const ms = this.#msUntil(slot);
    if (ms < 1) return;
    try {
      await this.#options.clock.sleep(ms, signal);
    } catch (error) {
      this.#reserved.push({ first: slot, intervalMs: 0, count: 1, index: 0 });
      this.#reserved.sort((one, other) => nextOf(one) - nextOf(other));
      throw error;
    }
  }

  /** Discards reserved slots that are not used yet, because the origin was paused. */
  clear(): void {
    this.#reserved = [];
  }

  /**
   * Changes the interval between requests, in milliseconds, from the next reservation on. A longer
   * one discards reserved slots.
   */
  setInterval(intervalMs: number): void {
    if (intervalMs > this.#intervalMs) this.clear();
    this.#intervalMs = intervalMs;
  }

  #msUntil(slot: number): number {
    return slot - this.#options.clock.steady();
  }

  async #nextSlot(signal: AbortSignal | undefined): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const waiter = { resolve, reject };
    this.#waiters.add(waiter);
    const stop =
      signal &&
      onAbort(signal, () => {
        this.#waiters.delete(waiter);
        reject(signal.reason);
      });
    if (!this.#isReserving) void this.#reserveAll();
    try {
      return await promise;
    } finally {
      stop?.();
    }
  }

  /** Takes the next reserved slot that has not passed. */
  #takeReserved(): number | undefined {
    const maxLateMs = Math.max(this.#intervalMs, toleranceMs);
    for (let slots = this.#reserved[0]; slots !== undefined; slots = this.#reserved[0]) {
      const lateMs = -this.#msUntil(nextOf(slots)) - maxLateMs;
      if (lateMs > 0) slots.index += Math.max(1, Math.ceil(lateMs / slots.intervalMs));
      const slot = nextOf(slots);
      const isReserved = slots.index < slots.count;
      slots.index += 1;
      if (slots.index >= slots.count) this.#reserved.shift();
      if (isReserved) return slot;
    }
    return undefined;
  }

  /** Reserves slots until no request waits. */
  async #reserveAll(): Promise<void> {
    this.#isReserving = true;
    try {
      while (this.#waiters.size > 0) {
        const earlyMs = this.#msUntil(this.#last) - leadMs;
        if (earlyMs >= 1) await this.#options.clock.sleep(earlyMs);
        // Requests may have been aborted in the meantime.
        if (this.#waiters.size > 0) await this.#reserve();
        this.#assign();
      }
    } catch (error) {
      for (const { reject } of this.#waiters) reject(error);
      this.#waiters.clear();
    } finally {
      this.#isReserving = false;
    }
  }

  #assign(): void {
    for (const waiter of this.#waiters) {
      const slot = this.#takeReserved();
      if (slot === undefined) return;
      this.#waiters.delete(waiter);
      waiter.resolve(slot);
    }
  }

  async #reserve(): Promise<void> {
    const { origin, reserve, isAlone, onPauseRead, clock } = this.#options;
    const intervalMs = this.#intervalMs;
    const isContinued = this.#msUntil(this.#last) > -maxAheadMs;
    this.#aheadMs =
      isAlone() && isContinued ? Math.min(2 * this.#aheadMs, maxAheadAloneMs) : maxAheadMs;
    const maxSlots = Math.max(1, Math.floor(this.#aheadMs / intervalMs));
    const needed = Math.max(this.#waiters.size, Math.floor(spareMs / intervalMs));
    const count = isAlone() ? maxSlots : Math.min(needed, maxSlots);
    const { first, pause } = await reserve(origin, count, intervalMs, clock.steady());
    // Before the slots are added: a new pause clears the bucket.
    onPauseRead(pause);
    this.#last = first + (count - 1) * intervalMs;
    this.#reserved.push({ first, intervalMs, count, index: 0 });
  }
}
