import { cacheReading } from '../base/cached-reading.ts';
import type { Clock } from '../base/clock.ts';
import type { MarketOrigins, Origins } from '../base/origins.ts';
import type { BodyBudget } from '../contract/body-budget.ts';
import { jobTypes, knownMarkets } from '../contract/job-types.ts';
import type { SharedCounts } from '../jobs/shared-counts.ts';
import { listFieldDrift } from '../quality/alarms.ts';
import { openStates } from '../store/job-states.ts';
import type { Store } from '../store/store.ts';
import type { GaugeReaders } from '../telemetry/metrics.ts';
import type { WorkerSlots } from '../worker/pool.ts';

/**
 * Share of the newest pages from which a field counts as gone: a few of them are older versions.
 */
const goneShare = 0.98;

/** Kinds of jobs. */
const kinds: readonly string[] = [...new Set(jobTypes.map(({ kind }) => kind))];

export interface StoreGaugeOptions {
  store: Pick<Store, 'drift' | 'jobs' | 'origins'>;
  sharedCounts: Pick<SharedCounts, 'backlog'>;
  clock: Pick<Clock, 'steady'>;
  origins: Origins;
}

/**
 * Creates the gauges of state that all processes share. They are read from the store when they are
 * collected, and reused for some seconds, so that several scrapers cost one query.
 */
export function storeGauges({
  store,
  sharedCounts,
  clock,
  origins,
}: StoreGaugeOptions): GaugeReaders {
  const jobs = cacheReading(clock, () =>
    store.jobs.countBy({ state: { in: openStates } }, ['mode', 'kind', 'state']),
  );
  const { backlog } = sharedCounts;
  const pauses = cacheReading(clock, () => store.origins.listPauses());
  const drift = cacheReading(clock, () => listFieldDrift(store, false));
  return {
    gleaner_drift_fields: async () => {
      const alarms = await drift();
      const markets = new Set([...knownMarkets, ...alarms.map(({ market }) => market)]);
      return [...markets].flatMap((market) => {
        const own = alarms.filter((alarm) => alarm.market === market);
        const gone = own.filter(({ absent }) => absent >= goneShare);
        return [
          { labels: { market, state: 'alarm' }, value: own.length },
          { labels: { market, state: 'gone' }, value: gone.length },
        ];
      });
    },
    gleaner_jobs: async () => {
      const live = (await jobs()).filter(({ mode }) => mode === 'live');
      const countOf = (kind: string, state: string) => {
        const row = live.find((count) => count.kind === kind && count.state === state);
        return row?.count ?? 0;
      };
      const countedKinds = new Set([...kinds, ...live.map(({ kind }) => kind)]);
      return [...countedKinds].flatMap((kind) =>
        openStates.map((state) => ({ labels: { kind, state }, value: countOf(kind, state) })),
      );
    },
    gleaner_batches: async () => {
      const sums = new Map(knownMarkets.map((market) => [market, { queued: 0, claimed: 0 }]));
      for (const { market, queued, claimed } of await backlog()) {
        const sum = sums.get(market) ?? { queued: 0, claimed: 0 };
        sums.set(market, { queued: sum.queued + queued, claimed: sum.claimed + claimed });
      }
      return [...sums].flatMap(([market, { queued, claimed }]) => [
        { labels: { market, state: 'queued' }, value: queued },
        { labels: { market, state: 'claimed' }, value: claimed },
      ]);
    },
    gleaner_batch_oldest_seconds: async () => {
      const now = clock.steady();
      const ages = (await backlog()).map(({ dueAt }) => now - (dueAt ?? now));
      return [{ labels: {}, value: Math.max(0, ...ages) / 1000 }];
    },
    gleaner_origin_paused: async () => {
      // Sites that clients name belong to no configured market.
      const now = clock.steady();
      const paused = new Set<string>();
      for (const { origin, until } of await pauses()) if (until > now) paused.add(origin);
      const counts = [...origins].map(([market, settings]) => {
        const own = originsOf(settings).filter((origin) => paused.has(origin));
        return { labels: { market }, value: own.length };
      });
      const configured = new Set([...origins.values()].flatMap(originsOf));
      const otherCount = [...paused].filter((origin) => !configured.has(origin)).length;
      return [...counts, { labels: { market: 'other' }, value: otherCount }];
    },
  };
}

export function workerGauges(slots: () => WorkerSlots | undefined): GaugeReaders {
  return {
    gleaner_worker_slots: async () =>
      Object.entries(slots() ?? {}).map(([state, value]) => ({ labels: { state }, value })),
  };
}

/** Creates the gauges of a process that serves requests: how much of its limits is used. */
export function servingGauges(
  budget: Pick<BodyBudget, 'usage'>,
  ports: Readonly<Record<string, { connections(): number } | null>>,
  maxConnections: number,
): GaugeReaders {
  return {
    gleaner_body_budget_bytes: async () => {
      const { usedBytes, limitBytes } = budget.usage();
      return [
        { labels: { state: 'used' }, value: usedBytes },
        { labels: { state: 'limit' }, value: limitBytes },
      ];
    },
    gleaner_connections: async () =>
      Object.entries(ports).flatMap(([port, server]) => {
        if (server === null) return [];
        return [
          { labels: { port, state: 'open' }, value: server.connections() },
          { labels: { port, state: 'limit' }, value: maxConnections },
        ];
      }),
  };
}

function originsOf({ addresses }: MarketOrigins): string[] {
  const origins = new Set<string>();
  for (const address of addresses.values()) origins.add(new URL(address).origin);
  return [...origins];
}
