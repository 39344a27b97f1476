import type { Clock } from '../base/clock.ts';
import { Fault } from '../contract/fault.ts';
import type { OriginPause, OriginStore } from '../store/origin-state.ts';
import {
  type AcquireOptions,
  type ConcurrencyLimit,
  createConcurrencyLimit,
  type UrgentTasks,
} from './concurrency-limit.ts';

/** Options of Permits. */
export interface PermitsOptions {
  origin: string;
  /** Id of this process. */
  holder: string;
  /** Permits of the origin over all workers. */
  limit: number;
  lease: OriginStore['lease'];
  /** Receives the origin's pause with each lease. */
  onPauseRead(pause: OriginPause): void;
  clock: Clock;
  /** Urgent work of this process, if other requests make room for it. */
  urgentTasks?: UrgentTasks;
}

/**
 * Duration of a lease in milliseconds: permits of a process that dies become free after this time.
 */
export const permitLeaseMs = 6_000;

/**
 * Maximum interval between renewals in milliseconds: two of them may fail before the lease expires.
 */
const renewMs = 2_000;

/**
 * Renewals happen at multiples of this time in milliseconds, so that those of all origins of a
 * process happen together, and the store can write them together.
 */
const renewalGridMs = 1_000;

/** Milliseconds between lease requests while other processes hold requested permits. */
const pollMs = 500;

/**
 * Interval of the first lease request after the number of leased permits changed, in milliseconds.
 * Quadruples until the intervals above. Processes that start to use an origin together thus get
 * their shares within a fraction of a second.
 */
const firstPollMs = 100;

/**
 * Reason for an early renewal. Requests give it often, and abort() without a reason creates an
 * exception with a stack.
 */
const moreNeeded = new Error('more permits are needed');

/**
 * This process's share of the permits of one origin, which all workers share. It leases as many as
 * are needed, renews the lease every two seconds regardless of the number of requests, and releases
 * permits that are no longer used. While the store does not respond, no request starts after the
 * lease has expired.
 */
export class Permits {
  readonly #options: PermitsOptions;
  readonly #limit: ConcurrencyLimit;
  /** Permits of the current lease. */
  #leased = 0;
  #isAlone = false;
  /** Permits that the store counts as used by this process until the next lease. */
  #counted = 0;
  #leasedUntil = 0;
  /** Maximum demand since the last lease. */
  #peak = 0;
  /** Permits requested by the last lease. */
  #requested = 0;
  /** Maximum interval to the next lease request, in milliseconds. */
  #intervalMs = firstPollMs;
  #renewing = false;
  #closed = false;
  #wake = () => {};

  constructor(options: PermitsOptions) {
    this.#options = options;
    this.#limit = createConcurrencyLimit(0, options.urgentTasks);
  }

  /** Number of requests that hold a permit or wait for one. */
  get demand(): number {
    return this.#limit.inUse + this.#limit.waiting;
  }

  /** True if no other process held or requested permits at the last lease. */
  get isAlone(): boolean {
    return this.#isAlone;
  }

  /** True if nothing holds or waits for a permit, and none is leased. */
  get isIdle(): boolean {
    return !this.#renewing && this.demand === 0;
  }

  /**
   * Resolves with the release function of a permit. Urgent callers come first, and users get equal
   * shares (./concurrency-limit.ts). Rejects with the signal's reason if aborted, and with the
   * store's fault if it fails.
   */
  acquire(signal?: AbortSignal, options?: AcquireOptions): Promise<() => void> {
    if (this.#closed) return Promise.reject(this.#closedFault());
    this.#endExpired();
    const acquiring = this.#limit.acquire(signal, options);
    this.#peak = Math.max(this.#peak, this.demand);
    if (!this.#renewing) void this.#renew();
    else if (this.#needsMore()) this.#wake();
    return acquiring;
  }

  /** Releases all permits that are not in use. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#limit.rejectWaiting(this.#closedFault());
    if (this.#counted > 0) await this.#lease().catch(() => {});
    this.#wake();
  }

  #closedFault(): Fault {
    return new Fault('unavailable', `${this.#options.origin}: the process is shutting down`);
  }

  #needsMore(): boolean {
    return this.demand > this.#requested && this.#requested < this.#options.limit;
  }

  async #lease(): Promise<void> {
    const { origin, holder, limit, lease, onPauseRead, clock } = this.#options;
    const now = clock.steady();
    const requested = this.#closed ? 0 : Math.min(limit, Math.max(this.#peak, this.demand));
    this.#peak = this.demand;
    this.#requested = requested;
    const until = now + permitLeaseMs;
    const busy = this.#limit.inUse;
    const request = {
      holder,
      busy,
      requested,
      limit,
      now,
      until,
    };
    const { permits, isAlone, pause } = await lease(origin, request);
    this.#intervalMs = permits === this.#leased ? this.#intervalMs * 4 : firstPollMs;
    this.#leased = permits;
    this.#isAlone = isAlone;
    this.#counted = Math.max(permits, busy);
    this.#leasedUntil = until;
    onPauseRead(pause);
    this.#limit.resize(permits);
  }

  /** Stops granting permits once the lease has expired. */
  #endExpired(): void {
    if (this.#options.clock.steady() < this.#leasedUntil) return;
    this.#leased = 0;
    this.#isAlone = false;
    this.#counted = 0;
    this.#limit.resize(0);
  }

  /** Renews the lease until nothing is leased or demanded. */
  async #renew(): Promise<void> {
    this.#renewing = true;
    this.#intervalMs = firstPollMs;
    for (;;) {
      try {
        await this.#lease();
      } catch (error) {
        this.#intervalMs *= 4;
        this.#limit.rejectWaiting(error);
        this.#endExpired();
      }
      if (this.#counted === 0 && this.demand === 0) break;
      await this.#waitForRenewal();
      this.#endExpired();
    }
    this.#renewing = false;
  }

  /** Waits for the next renewal, or until more permits are needed than the last lease asked for. */
  async #waitForRenewal(): Promise<void> {
    if (!this.#closed && this.#needsMore()) return;
    const awake = new AbortController();
    this.#wake = () => awake.abort(moreNeeded);
    const isChanging = this.#leased < this.#requested || this.#limit.inUse > this.#leased;
    const maxMs = isChanging ? pollMs : renewMs;
    // Without demand, the permits are kept for the next request.
    const ms = this.demand === 0 ? maxMs : Math.min(maxMs, this.#intervalMs);
    const { clock } = this.#options;
    const earlyMs = ms === renewMs ? (clock.steady() + ms) % renewalGridMs : 0;
    await clock.sleep(ms - earlyMs, awake.signal).catch(() => {});
    this.#wake = () => {};
  }
}
