import { backOffMs } from '../base/back-off.ts';
import { createBoundedMap } from '../base/bounded-map.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import { noPause, type OriginPause, type OriginStore } from '../store/origin-state.ts';
import { describePauseReason, type RequestOutcome } from './request-outcome.ts';
import { maxRetryAfterMs } from './retry-after.ts';

/** Options of a Circuit. */
export interface CircuitOptions {
  origin: string;
  /** Name of the origin in faults: "mkta/id". */
  name: string;
  store: { origins: Pick<OriginStore, 'getPause' | 'putPause'> };
  clock: Clock;
  log: Log;
  /** Called when a pause starts. */
  onPause(): void;
  /** Returns a number from 0 (inclusive) to 1 (exclusive); adds jitter to waits. */
  random: () => number;
  /**
   * Duration of the first pause if the site names none, in milliseconds. Later pauses double it.
   */
  firstPauseMs: number;
}

/** Consecutive pauses that open the circuit, so that only trial requests are sent. */
const pausesToOpen = 3;

/**
 * Maximum pause if the site names no duration, in milliseconds: limits the effect of a few bad
 * pages.
 */
const maxPauseMs = 2 * 60_000;

/** Time after a pause until the count of consecutive pauses resets, in milliseconds. */
const resetMs = 10 * 60_000;

/** Timeout of a trial request, after which another one is sent, in milliseconds. */
const trialMs = 45_000;

/** Maximum interval at which requests that wait for a trial check the circuit, in milliseconds. */
const trialPollMs = 5_000;

/** Maximum age of the cached pause before it is read again, in milliseconds. */
const maxAgeMs = 1_000;

/**
 * Circuit breaker of one origin (docs/fetching.md, "When a site refuses"): this process's view of
 * the state that all workers share.
 */
export class Circuit {
  readonly #options: CircuitOptions;
  readonly #history = createFailureHistory();
  #pause: OriginPause = noPause;
  #updatedAt = 0;

  constructor(options: CircuitOptions) {
    this.#options = options;
  }

  /** True while requests to the origin are paused. */
  get paused(): boolean {
    return this.#pause.until > this.#options.clock.steady();
  }

  /** True while neither `wait` nor `admit` delays a request, nor makes it a trial. */
  get closed(): boolean {
    return this.#pause.failures < pausesToOpen && !this.paused;
  }

  /**
   * Resolves when the origin is not paused. Waits for a pause that ends within `maxWaitMs`; rejects
   * with `origin_paused` and the remaining time for a longer one.
   */
  async wait(maxWaitMs: number, signal?: AbortSignal): Promise<void> {
    const { clock, name, origin, store } = this.#options;
    let leftMs = maxWaitMs;
    for (let now = clock.steady(); this.#pause.until > now; now = clock.steady()) {
      if (now - this.#updatedAt >= maxAgeMs) {
        this.#apply(await store.origins.getPause(origin));
        continue;
      }
      const ms = this.#waitMs(now);
      if (ms > leftMs) {
        const message = `${name}: ${describePauseReason(this.#pause.reason)}`;
        throw new Fault('origin_paused', message, { retryAfterMs: ms });
      }
      leftMs -= ms;
      await clock.sleep(ms, signal);
    }
  }

  /**
   * Waits like `wait`, and resolves when a request for a page may be sent. Resolves with true for
   * the trial request of a half-open circuit; other requests wait for its outcome.
   */
  async admit(page: string, maxWaitMs: number, signal?: AbortSignal): Promise<boolean> {
    const { clock, origin, store } = this.#options;
    let yields = true;
    for (;;) {
      await this.wait(maxWaitMs, signal);
      if (this.#pause.failures < pausesToOpen) return false;
      if (yields && this.#history.has(page)) {
        // A page that was refused before is a poor test of the origin: other pages go first.
        yields = false;
        await clock.sleep(Math.min(trialPollMs, maxWaitMs), signal);
        this.#apply(await store.origins.getPause(origin));
      } else if (
        await this.#write({ ...this.#pause, until: clock.steady() + trialMs, probing: true })
      ) {
        return true;
      }
    }
  }

  /**
   * Records the outcome of a request, and pauses or resumes the origin. `trial` is the value that
   * `admit` returned for the request. Undefined if the shared pause does not change.
   */
  record(page: string, outcome: RequestOutcome, trial: boolean): Promise<void> | undefined {
    switch (outcome.kind) {
      case 'refused': {
        const concernsOrigin = this.#history.refused(page, outcome.explicit);
        return concernsOrigin || trial
          ? this.#extend(outcome.reason, outcome.waitMs, trial)
          : undefined;
      }
      case 'failed':
        return this.#history.failed(page) || trial
          ? this.#extend(outcome.reason, undefined, trial)
          : undefined;
      case 'succeeded': {
        this.#history.succeeded(page);
        const { failures, probing } = this.#pause;
        const isOver = trial || (failures > 0 && !probing && this.#history.recovered);
        return isOver ? this.#resume() : undefined;
      }
      case 'inconclusive':
        return trial ? this.#endTrial() : undefined;
      case 'not_sent':
        return undefined;
    }
  }

  /** Applies the origin's pause as last read from the store. */
  update(pause: OriginPause): void {
    if (pause.revision > this.#pause.revision) this.#apply(pause);
    else if (pause.revision === this.#pause.revision)
      this.#updatedAt = this.#options.clock.steady();
  }

  #apply(pause: OriginPause): void {
    const { clock, onPause } = this.#options;
    const isChanged = pause.revision !== this.#pause.revision;
    if (isChanged && pause.failures > 0) this.#history.pauseStarted();
    this.#pause = pause;
    this.#updatedAt = clock.steady();
    if (isChanged && pause.until > clock.steady()) onPause();
  }

  /**
   * Replaces the known pause. If another process changed it first, applies that change and returns
   * false.
   */
  async #write(next: Omit<OriginPause, 'revision'>): Promise<boolean> {
    const { origin, store } = this.#options;
    const { written, pause } = await store.origins.putPause(origin, {
      ...next,
      revision: this.#pause.revision + 1,
    });
    this.#apply(pause);
    return written;
  }

  #waitMs(now: number): number {
    const left = this.#pause.until - now;
    return this.#pause.probing
      ? Math.min(left, trialPollMs * (0.5 + this.#options.random() / 2))
      : left;
  }

  /** Starts a pause, or extends the current one if the site asks for a longer one. */
  async #extend(reason: string, requestedMs: number | undefined, trial: boolean): Promise<void> {
    const { origin, clock, log } = this.#options;
    for (;;) {
      const now = clock.steady();
      const pause = this.#nextPause(now, requestedMs, trial);
      if (pause === null) return;
      if (await this.#write({ ...pause, reason, probing: false })) {
        const { failures, until } = pause;
        log.warn(
          {
            origin,
            failures,
            ms: until - now,
            reason,
          },
          'origin paused',
        );
        return;
      }
    }
  }

  /** Returns the pause after a failure, or null if the current one lasts long enough. */
  #nextPause(
    now: number,
    requestedMs: number | undefined,
    trial: boolean,
  ): Pick<OriginPause, 'until' | 'failures' | 'since'> | null {
    const { until, failures, since, probing } = this.#pause;
    const isPaused = until > now && !(probing && trial);
    const requestedUntil = requestedMs
      ? Math.ceil(now + Math.min(requestedMs, maxRetryAfterMs))
      : 0;
    // Many requests are in flight when a site starts to refuse them: together they count as one
    // failure.
    if (isPaused) return requestedUntil > until ? { until: requestedUntil, failures, since } : null;
    const isFirst = this.#isFirst(now, trial);
    const failureCount = isFirst ? 1 : failures + 1;
    return {
      until: requestedUntil || Math.ceil(now + this.#backOffMs(failureCount)),
      failures: failureCount,
      since: isFirst ? now : since,
    };
  }

  /** Returns true if a pause that starts now is unrelated to the last one. */
  #isFirst(now: number, trial: boolean): boolean {
    if (this.#pause.failures === 0) return true;
    return !trial && (this.#history.recovered || now - this.#pause.until > resetMs);
  }

  #backOffMs(failures: number): number {
    const { firstPauseMs, random } = this.#options;
    // The random part is added, so that no request comes before the pause ends.
    return (
      backOffMs({ firstMs: firstPauseMs, maxMs: maxPauseMs }, failures, 0) * (1 + random() / 4)
    );
  }

  /** Ends the trial without a result, so that another request becomes the trial. */
  async #endTrial(): Promise<void> {
    await this.#write({ ...this.#pause, until: this.#options.clock.steady(), probing: false });
  }

  async #resume(): Promise<void> {
    if (await this.#write(noPause))
      this.#options.log.info({ origin: this.#options.origin }, 'origin resumed');
  }
}

/** Recent outcomes of one origin's pages, in this process. */
export interface FailureHistory {
  /** Records a page that was fetched successfully. */
  succeeded(page: string): void;
  /**
   * Records a refused page. Returns true if the whole origin is affected. `explicit`: the site
   * asked for a pause, so that one refusal is enough.
   */
  refused(page: string, explicit: boolean): boolean;
  /** Records a page without a usable response. Returns true if the whole origin is affected. */
  failed(page: string): boolean;
  /** Returns true if a page was refused or failed, and has not succeeded since. */
  has(page: string): boolean;
  /** Records the start of a pause. */
  pauseStarted(): void;
  /** True once enough pages have succeeded since the last pause to treat a new one as unrelated. */
  readonly recovered: boolean;
}

/** Successes of other pages after which a repeated refusal implicates only the refused page. */
const successesBetween = 3;

/** Successes after a pause until the origin counts as recovered. */
const successesToRecover = 10;

/**
 * Distinct pages that must be refused, or fail, in a row before the whole origin counts as
 * affected.
 */
const refusedInRow = 2;
const failedInRow = 5;

/** Limits on the remembered pages, whose paths callers choose. */
const maxEntries = 1_000;
const maxBytes = 128 * 1024;

/**
 * Creates an empty history. It distinguishes an origin that refuses requests from a single page
 * that does: one page never implicates the origin, however often it is retried, unless the site
 * asks for a pause. Even then, a page that is refused again while others succeed implicates only
 * itself.
 */
export function createFailureHistory(): FailureHistory {
  let successes = 0;
  let successesAtPause = 0;
  /** Success count at the first failure of each failing page. */
  const failing = createBoundedMap<number>({ maxBytes, maxEntries, sizeOf: () => 8 });
  /** Distinct pages in a row without a success, up to the threshold. */
  const refusals = new Set<string>();
  const failures = new Set<string>();

  const isPageSpecific = (page: string): boolean => {
    const first = failing.get(page) ?? successes;
    failing.set(page, first);
    return successes - first >= successesBetween;
  };

  return {
    succeeded: (page) => {
      successes += 1;
      failing.delete(page);
      refusals.clear();
      failures.clear();
    },
    refused: (page, explicit) => {
      if (isPageSpecific(page)) return false;
      if (refusals.size < refusedInRow) refusals.add(page);
      return explicit || refusals.size >= refusedInRow;
    },
    failed: (page) => {
      if (isPageSpecific(page)) return false;
      if (failures.size < failedInRow) failures.add(page);
      return failures.size >= failedInRow;
    },
    has: (page) => failing.peek(page) !== undefined,
    pauseStarted: () => {
      successesAtPause = successes;
    },
    get recovered() {
      return successes - successesAtPause >= successesToRecover;
    },
  };
}
