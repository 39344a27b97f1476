import type { Clock } from '../base/clock.ts';
import type { Fault } from '../base/fault.ts';
import type { Log } from '../base/log.ts';
import type { Origins } from '../base/origins.ts';
import { gentleness } from './defaults.ts';
import { createGate, type Gate } from './gate.ts';
import type { Fetcher } from './http.ts';
import type { FetchPage, PageAnswer } from './page.ts';
import { longestRetryAfterMs, retryAfterMs } from './retry-after.ts';
import { createTurns, type ReserveSlots, type Turns } from './slots.ts';

/** Leaves an origin alone until a time, over all workers together: the store's `pauseOrigin`. */
export type PauseOrigin = (origin: string, until: number, reason: string) => Promise<void>;

/** What politeness is made of. */
export interface PoliteOptions {
  fetcher: Fetcher;
  origins: Origins;
  reserve: ReserveSlots;
  pause: PauseOrigin;
  clock: Clock;
  log: Log;
  /** From 0 up to, not including, 1: spreads pauses. */
  random?: () => number;
  /** First pause after a refusal that names no time; doubled by each that follows. */
  firstPauseMs?: number;
}

/** Pages, asked for politely. */
export interface PolitePages {
  /** Gets pages from a market's origin of a region, each request in its turn. */
  fetcher(market: string, region: string, signal?: AbortSignal): FetchPage;
  /** Tells what a reader made of the origin's answer; one that throttled or blocked is left alone:
   *  as long as it asked, else longer each time, and one that blocked is not shown its cookies again.
   *  Other faults change nothing. */
  note(market: string, region: string, fault: Fault): Promise<void>;
  /** Pages of one market and region to have under way at once in this process. */
  concurrency(market: string): number;
}

/** What is known of one origin in this process. */
interface Manners {
  gate: Gate;
  turns: Turns;
  /** Refusals in a row. */
  strikes: number;
  /** Answers since the last refusal. */
  answers: number;
  pausedUntil: number;
  usedAt: number;
}

/** So many answers between two refusals, and the second is about its page, not about us. */
const answersBetween = 10;

/** Origins remembered at once: stores named by callers come and go. */
const mostOrigins = 1_000;

/** Statuses that say "leave me alone" whatever the page. */
function isRefusal({ status, headers }: PageAnswer): boolean {
  return status === 429 || status === 430 || (status === 503 && headers['retry-after'] !== undefined);
}

/**
 * Makes polite fetches over a fetcher: at each origin so many requests at once, so many a second over
 * all workers, none while it is paused (DESIGN, "Politeness"). A fetch rejects with the signal's
 * reason when aborted while it waits, and with `unavailable` when the store does not answer.
 */
export function createPolitePages(options: PoliteOptions): PolitePages {
  const { fetcher, origins, reserve, clock, log, random = Math.random, firstPauseMs = 2_000 } = options;
  const known = new Map<string, Manners>();

  const mannersOf = (market: string, origin: string): Manners => {
    let manners = known.get(origin);
    if (!manners) {
      if (known.size >= mostOrigins) forgetIdle();
      const { concurrency, requestsPerSecond } = gentleness(market, origins.get(market));
      const turns = createTurns(origin, 1000 / requestsPerSecond, reserve, clock);
      manners = { gate: createGate(concurrency), turns, strikes: 0, answers: 0, pausedUntil: 0, usedAt: 0 };
      known.set(origin, manners);
    }
    manners.usedAt = clock.now();
    return manners;
  };

  const forgetIdle = () => {
    const idle = [...known].filter(
      ([, { gate, pausedUntil }]) => gate.busy === 0 && pausedUntil <= clock.now(),
    );
    idle.sort(([, one], [, other]) => one.usedAt - other.usedAt);
    for (const [origin] of idle.slice(0, mostOrigins / 2)) known.delete(origin);
  };

  const leaveAlone = async (origin: string, manners: Manners, asked: number | undefined, reason: string) => {
    const now = clock.now();
    const repeated = now < manners.pausedUntil;
    if (!repeated) manners.strikes = manners.answers >= answersBetween ? 1 : manners.strikes + 1;
    manners.answers = 0;
    const grown = firstPauseMs * 2 ** (manners.strikes - 1) * (1 + random() / 4);
    const until = Math.ceil(now + Math.min(asked ?? grown, longestRetryAfterMs));
    if (repeated && (asked === undefined || until <= manners.pausedUntil)) return;
    manners.pausedUntil = until;
    manners.turns.drop();
    log.warn({ origin, ms: until - now, reason }, 'origin left alone');
    await options.pause(origin, until, reason);
  };

  return {
    fetcher: (market, region, signal) => {
      const fetch = fetcher.for(market, region, signal);
      return async (request) => {
        const origin = fetcher.originOf(market, region, request);
        const manners = mannersOf(market, origin);
        const leave = await manners.gate.enter(signal);
        try {
          await manners.turns.take(signal);
          const answer = await fetch(request);
          manners.answers += 1;
          if (isRefusal(answer)) {
            const asked = retryAfterMs(answer.headers, clock.now());
            await leaveAlone(origin, manners, asked, `status ${answer.status}`);
          }
          return answer;
        } finally {
          leave();
        }
      };
    },

    note: async (market, region, fault) => {
      if (fault.code !== 'page_throttled' && fault.code !== 'page_blocked') return;
      if (fault.code === 'page_blocked') fetcher.forget(market, region);
      const origin = origins.get(market)?.addresses.get(region);
      if (origin === undefined) return;
      await leaveAlone(origin, mannersOf(market, origin), fault.retryAfterMs, fault.code);
    },

    concurrency: (market) => gentleness(market, origins.get(market)).concurrency,
  };
}
