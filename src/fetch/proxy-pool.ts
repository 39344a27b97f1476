import type { Clock } from '../base/clock.ts';

/** Result of a request from the point of view of its proxy. */
export type ProxyReport =
  /** A response arrived, whatever its status. */
  | 'responded'
  /** No response arrived; either the proxy or the site may be the cause. */
  | 'no_response'
  /** The proxy itself failed. */
  | 'failed';

/** Selects proxies by their recent results. */
export interface ProxyPool {
  /** Returns the index of the proxy to use: the previous one if it is healthy, else a random one weighted by score. */
  pick(previous: number | undefined): number;
  report(index: number, report: ProxyReport): void;
  /** Returns each proxy's score, from 0 to 1, and the end of its suspension. */
  health(): { score: number; suspendedUntil: number }[];
}

/** Score below which a proxy is suspended. */
const minScore = 0.3;

/** Score from which the previous proxy is kept. */
const healthyScore = 0.5;

/** Score above which the duration of suspensions resets. */
const recoveredScore = 0.8;

/** Duration of the first suspension in milliseconds; the following ones double up to the maximum. */
const suspensionMs = 30_000;
const maxSuspensionMs = 15 * 60_000;

const updateScore: Readonly<Record<ProxyReport, (score: number) => number>> = {
  responded: (score) => score + (1 - score) * 0.2,
  no_response: (score) => score * 0.85,
  failed: (score) => score * 0.5,
};

/**
 * Creates a pool of `count` proxies. Failures lower a proxy's score and responses raise it; a proxy with a low score is
 * suspended, for longer each time. A site's refusal is a response: it applies to all proxies, and is no reason to switch.
 * If all proxies are suspended, the one whose suspension ends first is used.
 */
export function createProxyPool(count: number, clock: Clock, random: () => number = Math.random): ProxyPool {
  const states = Array.from({ length: count }, () => ({ score: 1, suspendedUntil: 0, suspensions: 0 }));
  const isAvailable = (index: number) => states[index]!.suspendedUntil <= clock.now();

  return {
    pick: (previous) => {
      if (previous !== undefined && isAvailable(previous) && states[previous]!.score >= healthyScore) {
        return previous;
      }
      const available = [...states.keys()].filter(isAvailable);
      if (available.length === 0) {
        return [...states.keys()].reduce((first, other) =>
          states[other]!.suspendedUntil < states[first]!.suspendedUntil ? other : first,
        );
      }
      const total = available.reduce((sum, index) => sum + states[index]!.score, 0);
      let left = random() * total;
      for (const index of available) {
        left -= states[index]!.score;
        if (left < 0) return index;
      }
      return available.at(-1)!;
    },

    report: (index, report) => {
      const state = states[index]!;
      state.score = updateScore[report](state.score);
      if (report === 'responded') {
        if (state.score > recoveredScore) state.suspensions = 0;
        return;
      }
      if (state.score >= minScore || !isAvailable(index)) return;
      state.suspendedUntil = clock.now() + Math.min(suspensionMs * 2 ** state.suspensions, maxSuspensionMs);
      state.suspensions += 1;
      // After the suspension, one more failure suspends the proxy again.
      state.score = minScore;
    },

    health: () => states.map(({ score, suspendedUntil }) => ({ score, suspendedUntil })),
  };
}
