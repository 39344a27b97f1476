import type { Collection } from './collection.ts';
import { declarations } from './collections.ts';
import { idsOfJob } from './history.ts';
import type { Store } from './store.ts';
import type { CollectionName } from './stored-documents.ts';

/**
 * Deletes up to `limit` records of a user in each collection that has an owner (keys, sessions,
 * idempotency keys, schedules and their runs, the webhook, destinations, deliveries, histories,
 * rules), and empties as many notes of ledger entries and details and addresses of audit entries by
 * or about the user. Returns the number of records; 0 if nothing is left. Can be repeated after a
 * crash.
 */
export async function eraseUserRecords(
  store: Store,
  userId: string,
  limit: number,
): Promise<number> {
  let erased = await emptyNotes(store, userId, limit);
  for (const [name, { owner }] of Object.entries(declarations)) {
    if (owner === undefined) continue;
    const collection = store[name as CollectionName] as unknown as Collection<
      Record<string, unknown>
    >;
    erased += await collection.remove({ [owner]: userId }, limit);
  }
  return (
    erased + (await eraseRuns(store, userId, limit)) + (await eraseDetails(store, userId, limit))
  );
}

/** Empties notes of a user's entries in the ledger. */
async function emptyNotes({ ledger }: Store, userId: string, limit: number): Promise<number> {
  const noted = await ledger.find({ userId, note: { not: '' } }, { order: [], limit });
  for (const { key } of noted) await ledger.update({ key }, { note: '' }, { relaxed: true });
  return noted.length;
}

/** Deletes runs of a user, each after its changes, which are found by it. */
async function eraseRuns(
  { trackingRuns, itemChanges }: Store,
  userId: string,
  limit: number,
): Promise<number> {
  let erased = 0;
  for (const { jobId } of await trackingRuns.find({ userId }, { order: [], limit })) {
    const changes = await itemChanges.remove(idsOfJob(jobId), limit);
    erased += changes;
    if (changes === limit) break;
    erased += await trackingRuns.remove({ jobId }, 1);
  }
  return erased;
}

/** Empties details and addresses of audit entries by a user, and details of those about a user. */
async function eraseDetails({ auditLog }: Store, userId: string, limit: number): Promise<number> {
  const byUser = [
    ...(await auditLog.find({ actorId: userId, detail: { not: '{}' } }, { order: [], limit })),
    ...(await auditLog.find({ actorId: userId, source: { not: '' } }, { order: [], limit })),
  ];
  await auditLog.writeAll(
    [],
    byUser.map(({ id }) => [{ id }, { detail: '{}', source: '' }]),
  );
  const aboutUser = await auditLog.find(
    { target: userId, detail: { not: '{}' } },
    { order: [], limit },
  );
  await auditLog.writeAll(
    [],
    aboutUser.map(({ id }) => [{ id }, { detail: '{}' }]),
  );
  return byUser.length + aboutUser.length;
}
