import type { Collections } from '../collections.ts';
import type { OperationsStore } from '../operations.ts';
import type { CrawlStore, DriftStore } from '../store.ts';

/** Creates the store of processes and request counts. */
export function operationsStore({ processes, originMinutes }: Collections): OperationsStore {
  return {
    putProcess: (report) => processes.upsert([report]),

    deleteProcess: async (id) => {
      await processes.remove({ id });
    },

    listProcesses: (since) => processes.find({ seenAt: { atLeast: since } }),

    addOriginMinutes: (rows) => originMinutes.accumulate(rows),

    listOriginMinutes: (since) => originMinutes.find({ minute: { atLeast: since } }),
  };
}

/** Creates the store of crawled pages. */
export function crawlStore({ crawls }: Collections): CrawlStore {
  return {
    putCrawl: (key, at, body) => crawls.upsert([{ key, at, body }]),
    findCrawl: async (key, since) => {
      const crawl = await crawls.get(key);
      return crawl === null || crawl.at < since ? null : { at: crawl.at, body: crawl.body };
    },
  };
}

/** Creates the store of the statistics of listed fields. */
export function driftStore({ drift }: Collections): DriftStore {
  return {
    getDrift: (market, page) => drift.get(market, page),
    putDrift: (record) => drift.put(record),
    listDrift: () => drift.find({}),
  };
}
