import type { Clock } from '../base/clock.ts';
import type { RequestObserver, RequestTarget } from '../fetch/request-observer.ts';
import type { OriginMinute } from '../store/operations.ts';
import type { Metrics } from '../telemetry/metrics.ts';

/** Counts of this process's requests to origins that are not stored yet. */
export interface RequestCounter extends RequestObserver {
  /** Returns and resets the counts. */
  take(): OriginMinute[];
  /** Adds counts that could not be stored back to the current ones. */
  putBack(rows: readonly OriginMinute[]): void;
}

/** Wraps an observer to count requests in the metrics. */
export function meterRequests(observer: RequestObserver, metrics: Metrics): RequestObserver {
  return {
    ended: observer.ended,
    classified(target, outcome) {
      observer.classified(target, outcome);
      metrics.add('gleaner_origin_requests_total', { market: target.market, outcome });
    },
  };
}

const minuteMs = 60_000;

/** Maximum rows kept while the store is unavailable; the oldest are dropped first. */
const maxRows = 5_000;

/** Creates counters of requests by origin, market, region and minute. */
export function createRequestCounter(clock: Pick<Clock, 'now'>): RequestCounter {
  const rows = new Map<string, OriginMinute>();

  const rowOf = ({ origin, market, region }: RequestTarget, minute: number): OriginMinute => {
    const key = `${minute}\n${origin}\n${market}\n${region}`;
    let row = rows.get(key);
    if (row === undefined) {
      row = {
        origin,
        market,
        region,
        minute,
        requests: 0,
        refused: 0,
        failed: 0,
        milliseconds: 0,
      };
      rows.set(key, row);
      if (rows.size > maxRows) rows.delete(rows.keys().next().value!);
    }
    return row;
  };
  const now = (target: RequestTarget) =>
    rowOf(target, Math.floor(clock.now() / minuteMs) * minuteMs);

  return {
    ended: (target, milliseconds) => {
      const row = now(target);
      row.requests += 1;
      row.milliseconds += milliseconds;
    },
    classified: (target, outcome) => {
      if (outcome === 'refused' || outcome === 'failed') now(target)[outcome] += 1;
    },
    take: () => {
      const taken = [...rows.values()];
      rows.clear();
      return taken;
    },
    putBack: (back) => {
      const meanwhile = [...rows.values()];
      rows.clear();
      for (const counted of [...back, ...meanwhile]) {
        const row = rowOf(counted, counted.minute);
        row.requests += counted.requests;
        row.refused += counted.refused;
        row.failed += counted.failed;
        row.milliseconds += counted.milliseconds;
      }
    },
  };
}
