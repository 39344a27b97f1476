import type { OriginStore } from '../store/origin-state.ts';
import { Circuit, type CircuitOptions } from './circuit.ts';
import { Permits, type PermitsOptions } from './permits.ts';
import type { OriginPolicy } from './policy.ts';
import { TokenBucket } from './token-bucket.ts';

/** Public members of a class, which the throttle of the sandbox has without its state. */
type Members<T> = Pick<T, keyof T>;

/** Limits on the requests to one origin: concurrency, rate, and circuit breaker. */
export interface OriginThrottle {
  permits: Members<Permits>;
  tokens: Members<TokenBucket>;
  circuit: Members<Circuit>;
  /**
   * Sets the minimum interval between requests that the origin asks for, in milliseconds. A policy
   * with a longer interval takes precedence.
   */
  slowDown(intervalMs: number): void;
  /** Applies the limits of a changed policy. */
  apply(policy: OriginPolicy): void;
}

/** Options for createOriginThrottles(). */
export interface OriginThrottleOptions
  extends Pick<CircuitOptions, 'clock' | 'log' | 'random' | 'firstPauseMs'>,
    Pick<PermitsOptions, 'holder' | 'urgentTasks'> {
  store: { origins: OriginStore };
}

export interface OriginThrottles {
  /**
   * Returns the throttle of an origin; creates it for the first request. `name`: name of the origin
   * in faults.
   */
  at(origin: string, name: string, policy: OriginPolicy): OriginThrottle;
  /** Releases all permits. */
  close(): Promise<void>;
}

/** Maximum origins in memory: callers may name any number of stores. */
const maxOrigins = 1_000;

function createOriginThrottle(
  origin: string,
  name: string,
  policy: OriginPolicy,
  options: OriginThrottleOptions,
): OriginThrottle {
  const { store, holder, clock } = options;
  let current = policy;
  let crawlDelayMs = 0;
  const intervalMs = () => Math.max(1000 / current.requestsPerSecond, crawlDelayMs);
  const circuit = new Circuit({
    ...options,
    origin,
    name,
    onPause: () => tokens.clear(),
  });
  const onPauseRead: Circuit['update'] = (pause) => circuit.update(pause);
  const tokens = new TokenBucket({
    origin,
    intervalMs: intervalMs(),
    reserve: store.origins.reserve,
    isAlone: () => permits.isAlone,
    onPauseRead,
    clock,
  });
  const permits = new Permits({
    origin,
    holder,
    get limit() {
      return current.concurrency;
    },
    lease: store.origins.lease,
    onPauseRead,
    clock,
    ...(options.urgentTasks ? { urgentTasks: options.urgentTasks } : {}),
  });
  return {
    permits,
    tokens,
    circuit,
    slowDown: (ms) => {
      crawlDelayMs = ms;
      tokens.setInterval(intervalMs());
    },
    apply: (changed) => {
      const isSame =
        changed.concurrency === current.concurrency &&
        changed.requestsPerSecond === current.requestsPerSecond;
      if (isSame) return;
      current = changed;
      tokens.setInterval(intervalMs());
    },
  };
}

/**
 * Creates an empty collection of throttles. Beyond 1,000 origins, those that are idle are evicted,
 * the least recently used first.
 */
export function createOriginThrottles(options: OriginThrottleOptions): OriginThrottles {
  const throttles = new Map<string, OriginThrottle>();
  let latest = '';

  // Paused origins are evicted last; the store keeps their pauses.
  const evictIdle = () => {
    for (const evictsPaused of [false, true]) {
      for (const [origin, { permits, circuit }] of throttles) {
        if (throttles.size < maxOrigins) return;
        // Permits that are still leased count against the origin's limit under the same holder.
        if (permits.isIdle && (evictsPaused || !circuit.paused)) throttles.delete(origin);
      }
    }
  };

  return {
    at: (origin, name, policy) => {
      const found = throttles.get(origin);
      found?.apply(policy);
      if (found !== undefined && origin === latest) return found;
      latest = origin;
      const throttle = found ?? createOriginThrottle(origin, name, policy, options);
      // Insertion order is the order of use.
      throttles.delete(origin);
      if (found === undefined && throttles.size >= maxOrigins) evictIdle();
      throttles.set(origin, throttle);
      return throttle;
    },
    close: async () => {
      await Promise.all([...throttles.values()].map(({ permits }) => permits.close()));
    },
  };
}
