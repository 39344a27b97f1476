import type { Clock } from '../base/clock.ts';
import type { OriginPause, OriginStore } from '../store/origin-state.ts';

/** Options of a TokenBucket. */
export interface TokenBucketOptions {
  origin: string;
  /** Interval between requests in milliseconds, over all workers. */
  intervalMs: number;
  reserve: OriginStore['reserve'];
  /** Receives the origin's pause with each reservation. */
  onPauseRead(pause: OriginPause): void;
  clock: Clock;
}

/** Maximum time reserved ahead in milliseconds, so that other workers get slots too. */
const maxAheadMs = 1000;

/** Delay after which a slot may still be used, in milliseconds: timers are not exact. */
const toleranceMs = 100;

/**
 * Rate limit of one origin: a token bucket whose slots are one interval apart over all workers. It reserves
 * slots in chunks, of one second at most: the chunk size doubles if all slots were used, and halves if some
 * were missed.
 */
export class TokenBucket {
  readonly #options: TokenBucketOptions;
  /** Interval of the next reservation. */
  #nextIntervalMs: number;
  /** Interval of the reserved slots. */
  #intervalMs: number;
  #chunk = 1;
  /** Time of the next reserved slot. */
  #next = 0;
  /** Number of reserved slots left. */
  #left = 0;
  #reserving: Promise<void> | null = null;

  constructor(options: TokenBucketOptions) {
    this.#options = options;
    this.#nextIntervalMs = options.intervalMs;
    this.#intervalMs = options.intervalMs;
  }

  /**
   * Resolves when one request may be sent; undefined if it may be sent at once. Rejects with the signal's
   * reason if aborted.
   */
  take(signal?: AbortSignal): Promise<void> | undefined {
    const slot = this.#reservedSlot();
    if (slot !== null && !signal?.aborted && slot - this.#options.clock.steady() < 1) return undefined;
    return this.#wait(slot, signal);
  }

  async #wait(slot: number | null, signal: AbortSignal | undefined): Promise<void> {
    const { clock } = this.#options;
    const ms = (slot ?? (await this.#nextSlot())) - clock.steady();
    if (signal?.aborted) throw signal.reason;
    if (ms >= 1) await clock.sleep(ms, signal);
  }

  /** Discards reserved slots that are not used yet, because the origin was paused. */
  clear(): void {
    this.#left = 0;
    this.#chunk = 1;
  }

  /** Changes the interval between requests, in milliseconds, from the next reservation on. */
  setInterval(intervalMs: number): void {
    this.#nextIntervalMs = intervalMs;
  }

  async #nextSlot(): Promise<number> {
    for (;;) {
      const slot = this.#reservedSlot();
      if (slot !== null) return slot;
      this.#reserving ??= this.#reserve().finally(() => {
        this.#reserving = null;
      });
      await this.#reserving;
    }
  }

  /** Takes the next reserved slot; null if none is left. */
  #reservedSlot(): number | null {
    this.#skipMissed();
    if (this.#left === 0) return null;
    const at = this.#next;
    this.#next += this.#intervalMs;
    this.#left -= 1;
    return at;
  }

  async #reserve(): Promise<void> {
    const { origin, reserve, onPauseRead, clock } = this.#options;
    const intervalMs = this.#nextIntervalMs;
    const maxSlots = Math.max(1, Math.floor(maxAheadMs / intervalMs));
    const slots = Math.min(this.#chunk, maxSlots);
    const reserved = await reserve(origin, slots, intervalMs, clock.steady());
    // Before the assignments below: a new pause clears the bucket.
    onPauseRead(reserved.pause);
    this.#intervalMs = intervalMs;
    this.#next = reserved.first;
    this.#left = slots;
    this.#chunk = Math.min(slots * 2, maxSlots);
  }

  #skipMissed(): void {
    const tolerance = Math.max(this.#intervalMs, toleranceMs);
    const late = this.#options.clock.steady() - tolerance - this.#next;
    const missed = Math.min(this.#left, Math.ceil(late / this.#intervalMs));
    if (missed <= 0) return;
    this.#next += missed * this.#intervalMs;
    this.#left -= missed;
    // The reservation doubled the chunk size: a quarter is half of the size that was reserved.
    this.#chunk = Math.max(1, Math.floor(this.#chunk / 4));
  }
}
