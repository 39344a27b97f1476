import type { Clock } from '../base/clock.ts';

/** How a request went, as far as the proxy that it took is concerned. */
export type ProxyReport =
  /** There was an answer, whatever it said. */
  | 'answered'
  /** There was none, and who is to blame is not known. */
  | 'unanswered'
  /** The proxy failed. */
  | 'failed';

/** Picks among proxies by how they did lately. */
export interface ProxyPool {
  /** Index of the proxy to take: the one before as long as it does well, else any, better ones more often. */
  pick(before: number | undefined): number;
  report(index: number, report: ProxyReport): void;
  /** Scores from 0 to 1, and until when a proxy rests. */
  health(): { score: number; restsUntil: number }[];
}

/** Below this a proxy rests. */
const poor = 0.3;

/** First rest; doubled by each that follows. */
const restMs = 30_000;
const longestRestMs = 15 * 60_000;

const changes: Readonly<Record<ProxyReport, (score: number) => number>> = {
  answered: (score) => score + (1 - score) * 0.2,
  unanswered: (score) => score * 0.85,
  failed: (score) => score * 0.5,
};

/**
 * Makes the pool of so many proxies. Every proxy starts well; failures lower its score, answers raise it,
 * and one with a poor score rests, longer each time. What a site says to a proxy, a refusal too, is an
 * answer: it is the site's to us all, and no reason to come back by another way. When all rest, the
 * first to be rested is taken.
 */
export function createProxyPool(count: number, clock: Clock, random: () => number = Math.random): ProxyPool {
  const states = Array.from({ length: count }, () => ({ score: 1, restsUntil: 0, rests: 0 }));
  const rested = (index: number) => states[index]!.restsUntil <= clock.now();

  return {
    pick: (before) => {
      if (before !== undefined && rested(before) && states[before]!.score >= 0.5) return before;
      const ready = [...states.keys()].filter(rested);
      if (ready.length === 0) {
        return [...states.keys()].reduce((one, other) =>
          states[other]!.restsUntil < states[one]!.restsUntil ? other : one,
        );
      }
      const total = ready.reduce((sum, index) => sum + states[index]!.score, 0);
      let left = random() * total;
      for (const index of ready) {
        left -= states[index]!.score;
        if (left < 0) return index;
      }
      return ready.at(-1)!;
    },

    report: (index, report) => {
      const state = states[index]!;
      state.score = changes[report](state.score);
      if (report === 'answered') {
        if (state.score > 0.8) state.rests = 0;
        return;
      }
      if (state.score >= poor || !rested(index)) return;
      state.restsUntil = clock.now() + Math.min(restMs * 2 ** state.rests, longestRestMs);
      state.rests += 1;
      // It comes back on trial: one more failure and it rests again.
      state.score = poor;
    },

    health: () => states.map(({ score, restsUntil }) => ({ score, restsUntil })),
  };
}
