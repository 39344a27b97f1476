import type { Collections } from '../collections.ts';
import { readCursor, rowsToRead, toPage } from '../cursor.ts';
import { changesOfJob, countsOf, type HistoryStore, type ItemKey, type RuleStore } from '../history.ts';

type RunMethods = Pick<
  HistoryStore,
  | 'createTrackingRun'
  | 'getTrackingRun'
  | 'claimTrackingRuns'
  | 'putRunProgress'
  | 'hasEarlierRun'
  | 'beginRun'
>;

/** Creates the store of histories. */
export function historyStore(collections: Collections): HistoryStore {
  return { ...runStore(collections), ...itemStore(collections), ...ruleStore(collections) };
}

function runStore({ trackingRuns }: Collections): RunMethods {
  return {
    createTrackingRun: (run) =>
      trackingRuns.insert({ ...run, activeUser: run.turn === 'active' ? run.userId : null }),

    getTrackingRun: (jobId) => trackingRuns.get(jobId),
    claimTrackingRuns: (now, leaseUntil, limit) => trackingRuns.claimDue(now, leaseUntil, limit),

    putRunProgress: async (jobId, take, { dueAt, turn, stage, nextBatch, counts, messages, doneAt }) => {
      const change = { dueAt, turn, stage, nextBatch, counts, messages, doneAt };
      const end = turn === 'active' ? {} : { activeUser: null };
      return (
        (await trackingRuns.update({ jobId, take, stage: { not: 'done' } }, { ...change, ...end })) !== null
      );
    },

    hasEarlierRun: async ({ userId, series, at, jobId }) => {
      const open = { userId, dueAt: { not: null } };
      const earlier = { newestFirst: true, after: [at, jobId], limit: 1 };
      const before = await trackingRuns.find({ ...open, turn: { in: ['waiting', 'active'] } }, earlier);
      if (before.length > 0) return true;
      return (
        series !== '' && (await trackingRuns.find({ ...open, turn: 'failed', series }, earlier)).length > 0
      );
    },

    beginRun: async ({ jobId, userId, take }) =>
      (await trackingRuns.update(
        { jobId, take, stage: { not: 'done' } },
        { turn: 'active', activeUser: userId },
      )) !== null,
  };
}

const keyOf = ({ userId, market, region, key }: ItemKey): ItemKey => ({ userId, market, region, key });

function itemStore({
  trackedItems,
  observations,
  itemChanges,
}: Collections): Omit<HistoryStore, keyof RunMethods | keyof RuleStore> {
  return {
    getTrackedItems: (ids) => trackedItems.find({ id: { in: ids } }, { order: [] }),
    putTrackedItems: (items) => trackedItems.upsert(items),

    addObservations: async (added) => {
      const ends = added.flatMap(({ observation, previous }) =>
        previous === null
          ? []
          : [
              [
                { ...keyOf(observation), at: previous.at, jobId: previous.jobId },
                { endedAt: observation.at },
              ] as const,
            ],
      );
      await observations.writeAll(
        added.map(({ observation }) => observation),
        ends,
      );
    },

    addChanges: (changes) => itemChanges.writeAll(changes),
    getChanges: (ids) => itemChanges.find({ id: { in: ids } }, { order: [] }),

    findAbsentItems: async (userId, series, sources, { jobId, before }, limit) => {
      if (series === '' || sources.length === 0) return [];
      const absent = {
        userId,
        // The index has only items of series.
        series: { is: series, above: '' },
        source: { in: sources },
        seenJob: { not: jobId },
        seenAt: { below: before },
        isPresent: true,
      };
      return trackedItems.find(absent, { order: ['id'], limit });
    },

    listTrackedItems: (userId, series, { market, region, search }, page) =>
      trackedItems.list(
        { userId, series, market, region },
        page,
        search === undefined ? undefined : { fields: ['key', 'values.title'], text: search },
      ),

    listObservations: (item, from, to, page) =>
      observations.list({ ...keyOf(item), at: { atLeast: from, below: to } }, page),

    findObservation: async (item, before) => {
      const [latest = null] = await observations.find(
        { ...keyOf(item), at: { below: before } },
        { newestFirst: true, limit: 1 },
      );
      return latest;
    },

    listChanges: async (jobId, type, page) => {
      const { above, below } = changesOfJob(jobId).id;
      const found = await itemChanges.find(
        { id: { above: page.after ? readCursor(page).id : above, below }, type: type ?? undefined },
        { order: ['id'], limit: rowsToRead(page) },
      );
      return toPage(found, page, ({ at, id }) => ({ at, id }));
    },

    countChanges: async (jobId) => countsOf([...(await itemChanges.countBy(changesOfJob(jobId), 'type'))]),
  };
}

/** Creates the store of rules. */
function ruleStore({ rules }: Collections): RuleStore {
  return {
    createRule: (rule) => rules.insert(rule),
    putRule: (rule) => rules.put(rule),
    getRule: (id) => rules.get(id),
    listRules: (userId) => rules.find({ userId }),
    deleteRule: async (id, userId) => (await rules.remove({ id, userId })) === 1,
  };
}
