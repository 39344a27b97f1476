import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { OriginStore } from '../store/origin-state.ts';
import { type Circuit, createCircuit } from './circuit.ts';
import { createPermits, type Permits } from './permits.ts';
import type { OriginPolicy } from './policy.ts';
import { createTurns, type Turns } from './slots.ts';

/** How one origin is treated: how many requests at once, how often, and whether at all just now. */
export interface Manners {
  permits: Permits;
  turns: Turns;
  circuit: Circuit;
  /** Keeps requests as far apart as the origin asks, or as is usual where that is further. */
  slowDown(intervalMs: number): void;
}

/** What is shared by the manners at all origins. */
export interface MannersOptions {
  store: Pick<OriginStore, 'reserveRequests' | 'leasePermits' | 'getPause' | 'putPause'>;
  /** This process, as holder of permits. */
  holder: string;
  clock: Clock;
  log: Log;
  /** From 0 up to, not including, 1: spreads waits. */
  random: () => number;
  /** First pause after a refusal that names no time; doubled by each that follows. */
  firstPauseMs: number;
}

/** Manners at every origin that is asked. */
export interface AllManners {
  /** Those at an origin; made when it is first asked. `name`: what it is called in faults. */
  at(origin: string, name: string, policy: OriginPolicy): Manners;
  /** Gives all permits back. */
  close(): Promise<void>;
}

/** Origins remembered at once: stores named by callers come and go. */
const mostOrigins = 1_000;

function createManners(
  origin: string,
  name: string,
  { concurrency, requestsPerSecond }: OriginPolicy,
  options: MannersOptions,
): Manners {
  const { store, holder, clock } = options;
  const intervalMs = 1000 / requestsPerSecond;
  const circuit = createCircuit({ ...options, origin, name, pausing: () => turns.drop() });
  const turns = createTurns({
    origin,
    intervalMs,
    reserve: store.reserveRequests,
    learn: circuit.learn,
    clock,
  });
  const permits = createPermits({
    origin,
    holder,
    limit: concurrency,
    lease: store.leasePermits,
    learn: circuit.learn,
    clock,
  });
  return {
    permits,
    turns,
    circuit,
    slowDown: (asked) => turns.space(Math.max(intervalMs, asked)),
  };
}

/** Makes what remembers the manners at origins: those asked longest ago are forgotten first. */
export function rememberManners(options: MannersOptions): AllManners {
  const known = new Map<string, Manners>();
  let latest = '';

  // Origins that are paused go last: the store keeps their pause, and the next request learns of it there.
  const forgetIdle = () => {
    for (const forgetsPaused of [false, true]) {
      for (const [origin, { permits, circuit }] of known) {
        if (known.size < mostOrigins) return;
        if (permits.busy === 0 && (forgetsPaused || !circuit.paused)) known.delete(origin);
      }
    }
  };

  return {
    at: (origin, name, policy) => {
      const found = known.get(origin);
      if (found !== undefined && origin === latest) return found;
      latest = origin;
      const manners = found ?? createManners(origin, name, policy, options);
      // The one asked last stands last.
      known.delete(origin);
      if (known.size >= mostOrigins) forgetIdle();
      known.set(origin, manners);
      return manners;
    },
    close: async () => {
      await Promise.all([...known.values()].map(({ permits }) => permits.close()));
    },
  };
}
