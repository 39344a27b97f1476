import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Collection } from '../collection.ts';
import { type CollectionName, type Collections, declarations } from '../collections.ts';
import type { ExpiryStore } from '../expiry.ts';
import { changesOfJob } from '../history.ts';
import type { OriginStore } from '../origin-state.ts';
import { deletedUserName, type UserRetention } from '../retention.ts';
import type { LedgerStore } from '../store.ts';

/** Creates the store of deleted users. */
export function userRetention(
  collections: Collections,
  { emptyNotes }: Pick<LedgerStore, 'emptyNotes'>,
): UserRetention {
  const { users, deletedJobs } = collections;
  return {
    getDeletedJob: (jobId) => deletedJobs.get(jobId),
    listDeletedJobs: (userId, page) => deletedJobs.list({ userId }, page),

    markUserDeleted: async (id, at) => {
      const change = { name: deletedUserName, email: '', erased: false, deletedAt: at };
      await users.update({ id, deletedAt: null }, change);
      await users.update({ id, suspendedAt: null }, { suspendedAt: at });
      return users.get(id);
    },

    findUserDeletions: (limit) =>
      users.find({ deletedAt: { not: null }, erased: false }, { order: ['deletedAt', 'id'], limit }),

    eraseUserRecords: async (userId, limit) => {
      let erased = await emptyNotes(userId, limit);
      for (const [name, { owner }] of Object.entries(declarations)) {
        if (owner === undefined) continue;
        const collection = collections[name as CollectionName] as unknown as Collection<
          Record<string, unknown>
        >;
        erased += await collection.remove({ [owner]: userId }, limit);
      }
      return (
        erased +
        (await eraseRuns(collections, userId, limit)) +
        (await eraseDetails(collections, userId, limit))
      );
    },

    markUserErased: async (id) => {
      await users.update({ id, deletedAt: { not: null } }, { erased: true });
    },
  };
}

/** Deletes runs of a user, each after its changes, which are found by it. */
async function eraseRuns(
  { trackingRuns, itemChanges }: Collections,
  userId: string,
  limit: number,
): Promise<number> {
  let erased = 0;
  for (const { jobId } of await trackingRuns.find({ userId }, { order: [], limit })) {
    const changes = await itemChanges.remove(changesOfJob(jobId), limit);
    erased += changes;
    if (changes === limit) break;
    erased += await trackingRuns.remove({ jobId }, 1);
  }
  return erased;
}

/** Empties details and addresses of audit entries by a user, and details of those about a user. */
async function eraseDetails({ auditLog }: Collections, userId: string, limit: number): Promise<number> {
  const byUser = [
    ...(await auditLog.find({ actorId: userId, detail: { not: '{}' } }, { order: [], limit })),
    ...(await auditLog.find({ actorId: userId, source: { not: '' } }, { order: [], limit })),
  ];
  await auditLog.writeAll(
    [],
    byUser.map(({ id }) => [{ id }, { detail: '{}', source: '' }]),
  );
  const aboutUser = await auditLog.find({ target: userId, detail: { not: '{}' } }, { order: [], limit });
  await auditLog.writeAll(
    [],
    aboutUser.map(({ id }) => [{ id }, { detail: '{}' }]),
  );
  return byUser.length + aboutUser.length;
}

/** Documents deleted per step, and most steps per collection and call. */
const chunkSize = 500;
const maxChunks = 200;

/** Creates the store of expired records. */
export function expiryStore(
  collections: Collections,
  { expireOrigins }: Pick<OriginStore, 'expireOrigins'>,
): ExpiryStore {
  const { crawls } = collections;
  return {
    expire: async ({ origins, maxCrawls, trackingRuns, ...cutoffs }) => {
      let deleted = 0;
      if (origins !== undefined) deleted += await inSteps((limit) => expireOrigins(origins, limit));
      if (trackingRuns !== undefined) deleted += await expireRuns(collections, trackingRuns);
      if (maxCrawls !== undefined) {
        const excess = await crawls.pick({}, ['at'], { order: ['at'], newestFirst: true, skip: maxCrawls });
        if (excess !== null)
          deleted += await inSteps((limit) => crawls.remove({ at: { atMost: excess.at } }, limit));
      }
      for (const [name, before] of Object.entries(cutoffs) as [CollectionName, number][]) {
        const collection = collections[name] as unknown as Collection<Record<string, unknown>>;
        const time = declarations[name].expires!;
        deleted += await inSteps((limit) => collection.remove({ [time]: { below: before } }, limit));
      }
      return deleted;
    },
  };
}

async function inSteps(remove: (limit: number) => Promise<number>): Promise<number> {
  let deleted = 0;
  for (let chunk = 0; chunk < maxChunks; chunk++) {
    const removed = await remove(chunkSize);
    deleted += removed;
    if (removed < chunkSize) break;
    await nextTurn();
  }
  return deleted;
}

/** Deletes runs that ended before, each after its changes, which are found by it. */
async function expireRuns({ trackingRuns, itemChanges }: Collections, before: number): Promise<number> {
  let deleted = 0;
  for (const { jobId } of await trackingRuns.find(
    { doneAt: { below: before } },
    { order: ['doneAt'], limit: chunkSize },
  )) {
    deleted += await inSteps((limit) => itemChanges.remove(changesOfJob(jobId), limit));
    deleted += await trackingRuns.remove({ jobId }, 1);
  }
  return deleted;
}
