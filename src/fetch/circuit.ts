import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import { noPause, type OriginPause, type OriginStore } from '../store/origin-state.ts';
import { inWords, type Verdict } from './request-outcome.ts';
import { longestRetryAfterMs } from './retry-after.ts';
import { createTroubles } from './troubles.ts';

/** One origin's circuit, as this process sees what all workers share. */
export interface Circuit {
  /**
   * Resolves when there is no pause. One that ends within `patienceMs` is waited for; for a longer one
   * the fault `origin_paused` tells when to come back.
   */
  pass(patienceMs: number, signal?: AbortSignal): Promise<void>;
  /**
   * As `pass`, and resolves when a request for a page may go out: true for the one that tries whether
   * the origin works again, while all others wait for what comes of it.
   */
  admit(page: string, patienceMs: number, signal?: AbortSignal): Promise<boolean>;
  /** Whether nothing is to be asked of the origin now. */
  readonly paused: boolean;
  /** Takes what a page came to. `probe`: its request was let through to try the origin. */
  judge(page: string, verdict: Verdict, probe: boolean): Promise<void>;
  /** Takes what the store says of the origin. */
  learn(pause: OriginPause): void;
}

/** What a circuit is made of. */
export interface CircuitOptions {
  origin: string;
  /** What the origin is called in faults and logs: "mkta/id". */
  name: string;
  store: Pick<OriginStore, 'getPause' | 'putPause'>;
  clock: Clock;
  log: Log;
  /** Told when a pause begins. */
  pausing(): void;
  /** From 0 up to, not including, 1: spreads waits. */
  random: () => number;
  /** First pause where the site names none; doubled by each that follows. */
  firstPauseMs: number;
}

/** So many pauses in a row open the circuit: one request at a time then tries the origin. */
const strikesToOpen = 3;

/** Longest pause that the site did not ask for: a few bad pages hold an origin up for no longer. */
const longestPauseMs = 2 * 60_000;

/** Strikes this long after the last pause do not add up with it. */
const forgottenMs = 10 * 60_000;

/** How long the request that tries an origin may take until another does. */
const probeMs = 45_000;

/** How long to stay away while another request tries the origin. */
const whileProbedMs = 5_000;

/** How old knowledge of a pause may be. */
const freshMs = 1_000;

/** Makes the circuit of one origin (docs/fetching.md, "When a site refuses"). */
export function createCircuit(options: CircuitOptions): Circuit {
  const { origin, name, store, clock, log, pausing, random, firstPauseMs } = options;
  const troubles = createTroubles();
  let known = noPause;
  let learntAt = 0;

  const take = (pause: OriginPause) => {
    const begins = pause.change !== known.change && pause.until > clock.now();
    if (pause.change !== known.change && pause.failures > 0) troubles.struck();
    known = pause;
    learntAt = clock.now();
    if (begins) pausing();
  };

  /** Writes the next pause over the known one; false, with the other one known, when another came first. */
  const write = async (next: Omit<OriginPause, 'change'>): Promise<boolean> => {
    const { written, pause } = await store.putPause(origin, { ...next, change: known.change + 1 });
    take(pause);
    return written;
  };

  const waitMs = (now: number): number => {
    const left = known.until - now;
    return known.probing ? Math.min(left, whileProbedMs * (0.5 + random() / 2)) : left;
  };

  const pass: Circuit['pass'] = async (patienceMs, signal) => {
    let patience = patienceMs;
    for (let now = clock.now(); known.until > now; now = clock.now()) {
      if (now - learntAt >= freshMs) {
        take(await store.getPause(origin));
        continue;
      }
      const ms = waitMs(now);
      if (ms > patience) {
        throw new Fault('origin_paused', `${name}: ${inWords(known.reason)}`, { retryAfterMs: ms });
      }
      patience -= ms;
      await clock.sleep(ms, signal);
    }
  };

  const admit: Circuit['admit'] = async (page, patienceMs, signal) => {
    let yields = true;
    for (;;) {
      await pass(patienceMs, signal);
      if (known.failures < strikesToOpen) return false;
      if (yields && troubles.has(page)) {
        // A page that was refused before is a poor one to judge the origin by: others go first.
        yields = false;
        await clock.sleep(Math.min(whileProbedMs, patienceMs), signal);
        take(await store.getPause(origin));
      } else if (await write({ ...known, until: clock.now() + probeMs, probing: true })) return true;
    }
  };

  const strike = async (reason: string, asked: number | undefined, probe: boolean) => {
    for (;;) {
      const now = clock.now();
      const goesOn = known.until > now && !(known.probing && probe);
      const askedUntil = asked ? Math.ceil(now + Math.min(asked, longestRetryAfterMs)) : 0;
      // Many requests are under way when a site begins to refuse: together they are one strike.
      if (goesOn && askedUntil <= known.until) return;
      const anew = known.failures === 0 || (!probe && (troubles.calm || now - known.until > forgottenMs));
      const strikes = goesOn ? known.failures : anew ? 1 : known.failures + 1;
      const grownMs = Math.min(firstPauseMs * 2 ** (strikes - 1), longestPauseMs) * (1 + random() / 4);
      const until = askedUntil || Math.ceil(now + grownMs);
      const since = anew && !goesOn ? now : known.since;
      if (await write({ until, reason, failures: strikes, since, probing: false })) {
        log.warn({ origin, strikes, ms: until - now, reason }, 'origin left alone');
        return;
      }
    }
  };

  const close = async () => {
    if (await write(noPause)) log.info({ origin }, 'origin asked again as usual');
  };

  return {
    pass,
    admit,
    get paused() {
      return known.until > clock.now();
    },
    judge: async (page, verdict, probe) => {
      switch (verdict.sort) {
        case 'refused': {
          const tells = troubles.refused(page, verdict.asked);
          if (tells || probe) await strike(verdict.reason, verdict.waitMs, probe);
          return;
        }
        case 'failed':
          if (troubles.failed(page) || probe) await strike(verdict.reason, undefined, probe);
          return;
        case 'well':
          troubles.well(page);
          if (probe || (known.failures > 0 && !known.probing && troubles.calm)) await close();
          return;
        case 'other':
          // It tells nothing, so another request has to.
          if (probe) await write({ ...known, until: clock.now(), probing: false });
      }
    },
    learn: (pause) => {
      if (pause.change > known.change) take(pause);
      else if (pause.change === known.change) learntAt = clock.now();
    },
  };
}
