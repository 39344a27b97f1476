import type { BatchSummary, Outcome } from '../../src/store/batches.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { replaceMethods, type StoreMethods } from '../../src/store/wrap.ts';
import { simulate } from './run.ts';

/** A store with a defect that the simulation must reveal. */
export interface BrokenStore {
  /** Description of the defect. */
  defect: string;
  /**
   * Seed that is tried first. `npm run simulate -- --defects` finds the first one that reveals the
   * defect.
   */
  seed: number;
  /** Returns the methods that replace a correct store's methods. */
  change(store: Store): StoreMethods;
}

/** Seeds that are tried if the first one of a store does not reveal its defect. */
export const seedsOfDefects: readonly number[] = Array.from(
  { length: 60 },
  (_, index) => index + 1,
);

/** Runs a seed on a broken store, and returns the problems that it reveals. */
export async function revealDefect({ change }: BrokenStore, seed: number): Promise<string[]> {
  const store = openSqliteStore({ path: ':memory:' });
  return (await simulate({ seed, store: replaceMethods(store, change(store)) })).problems;
}

/** Broken stores, each of another kind of defect. */
export const brokenStores: readonly BrokenStore[] = [
  {
    defect: 'posts an entry again with another key',
    seed: 10,
    change: (store) => {
      let posts = 0;
      return {
        ledger: {
          post: (entry) =>
            store.ledger.post(
              entry.type === 'refund' && posts++ === 0
                ? { ...entry, key: `${entry.key}:again` }
                : entry,
            ),
        },
      };
    },
  },
  {
    defect: 'records successes without the reference to their records',
    seed: 1,
    change: (store) => ({
      batches: {
        recordOutcomes: (batch, attempt, { segment: _, ...write }) =>
          store.batches.recordOutcomes(batch, attempt, write),
      },
    }),
  },
  {
    defect: 'forgets idempotency keys',
    seed: 2,
    change: () => ({ submissions: { insert: async () => true } }),
  },
  {
    defect: 'forgets the owner of a claim',
    seed: 3,
    change: () => ({
      batches: {
        update: async (_where, { state }) => (state === undefined ? ({} as BatchSummary) : null),
        requeueStalled: async () => [],
      },
    }),
  },
  {
    defect: 'does not mark reused records',
    seed: 17,
    change: (store) => {
      const unmark = (outcomes: Record<number, Outcome>) =>
        Object.fromEntries(
          Object.entries(outcomes).map(([index, outcome]) =>
            outcome.status === 'SUCCESS'
              ? [index, { ...outcome, collectedAt: undefined }]
              : [index, outcome],
          ),
        );
      return {
        batches: {
          recordOutcomes: (batch, attempt, write) =>
            store.batches.recordOutcomes(batch, attempt, {
              ...write,
              outcomes: unmark(write.outcomes),
            }),
        },
      };
    },
  },
  {
    defect: 'forgets what ended an observation',
    seed: 72,
    change: (store) => ({
      observations: { writeAll: (inserts) => store.observations.writeAll(inserts) },
    }),
  },
  {
    defect: 'does not make a claimed job due again',
    seed: 9,
    change: (store) => {
      const claimed = new Set<string>();
      const isFirst = (step: string) => !claimed.has(step) && claimed.add(step);
      return {
        jobs: {
          claimDue: async (...parameters) =>
            (await store.jobs.claimDue(...parameters)).filter(({ id, state }) =>
              isFirst(`${state} ${id}`),
            ),
        },
      };
    },
  },
  {
    defect: 'compares jobs in any order',
    seed: 14,
    change: () => ({ trackingRuns: { find: async () => [] } }),
  },
  {
    defect: 'keeps a notification twice',
    seed: 4,
    change: (store) => {
      let kept = 0;
      return {
        deliveries: {
          insert: (delivery) =>
            store.deliveries.insert({ ...delivery, key: `${delivery.key} ${kept++}` }),
        },
      };
    },
  },
];
