import { expect, test } from 'vitest';
import { collectionNames, declarations } from '../collections.ts';
import { eraseUserRecords } from '../erasure.ts';
import { type Cutoffs, expire } from '../expiry.ts';
import type { CollectionName } from '../stored-documents.ts';
import { aChange, anObservation, aRun } from './history-samples.ts';
import { anEntry, aTime, aUser, collectionOf, type Fields, sampleOf } from './samples.ts';
import { type OpenStores, setUpStores } from './stores.ts';

const all = (isIncluded: (name: CollectionName) => boolean) => collectionNames.filter(isIncluded);
const expiring = all(
  (name) => declarations[name].expiresBy !== undefined && name !== 'trackingRuns',
);

/** Deletion of documents by age, and of a user's documents. */
export function expiryConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const store = async (name: CollectionName, fields: Fields) => {
    const document = { ...sampleOf(name), ...fields };
    await collectionOf(stores.store, name).insert(document);
    const id = declarations[name].id.map((field) => document[field] as string);
    return async () => (await collectionOf(stores.other, name).get(...id)) !== null;
  };

  /** Stores documents of a user; one if the id is the user's. */
  const storeOwned = async (name: CollectionName, userId: string) => {
    const { id, owner } = declarations[name];
    const exist = [];
    for (let count = id[0] === 'userId' ? 1 : 3; count > 0; count -= 1)
      exist.push(await store(name, { [owner!]: userId }));
    return exist;
  };

  test.each(expiring)('%s: expire() deletes documents before the cutoff', async (name) => {
    const time = declarations[name].expiresBy!;
    const exist = [await store(name, { [time]: 5 }), await store(name, { [time]: 6 })];
    expect(await expire(stores.store, { [name]: 6 } as Cutoffs)).toBe(1);
    expect(await Promise.all(exist.map((each) => each()))).toEqual([false, true]);
    expect(await expire(stores.other, { [name]: 6 } as Cutoffs)).toBe(0);
  });

  test('expire() keeps the latest observation of an item', async () => {
    const latest = anObservation({ at: 5 });
    await stores.store.observations.insert(latest);
    await expire(stores.store, { observations: aTime * 2 });
    const { userId, market, region, key, at, jobId } = latest;
    expect(await stores.other.observations.get(userId, market, region, key, at, jobId)).toEqual(
      latest,
    );
  });

  test('expire() deletes changes with their runs', async () => {
    const done = (doneAt: number) => aRun({ stage: 'done', dueAt: null, doneAt });
    const runs = [done(aTime), done(aTime + 5_000), aRun()];
    for (const run of runs) {
      await stores.store.trackingRuns.insert({ ...run, activeUser: null });
      await stores.store.itemChanges.writeAll([aChange(run.jobId, 0), aChange(run.jobId, 1)]);
    }
    const left = () =>
      Promise.all(
        runs.map(async ({ jobId }) => [
          (await stores.other.trackingRuns.get(jobId)) !== null,
          (await stores.other.itemChanges.get(aChange(jobId, 1).id)) !== null,
        ]),
      );
    expect(await expire(stores.store, { trackingRuns: aTime })).toBe(0);
    expect(await expire(stores.store, { trackingRuns: aTime + 2_000 })).toBe(1 + 2);
    expect(await left()).toEqual([
      [false, false],
      [true, true],
      [true, true],
    ]);
  });

  test('above the maximum number of crawled pages, expire() deletes the oldest', async () => {
    await expire(stores.store, { maxCrawls: 0 });
    const exist = [];
    for (let turn = 0; turn < 6; turn++) exist.push(await store('crawls', { at: aTime + turn }));
    expect(await expire(stores.store, { crawls: aTime + 1, maxCrawls: 3 })).toBe(3);
    expect(await expire(stores.store, { maxCrawls: 3 })).toBe(0);
    const left = await Promise.all(exist.map((each) => each()));
    expect(left).toEqual([false, false, false, true, true, true]);
  });

  test('eraseUserRecords() deletes the documents of a user in every collection, and keeps others', async () => {
    const [user, other] = [aUser(), aUser()];
    const owned = all((name) => declarations[name].owner !== undefined);
    const stored: Record<string, (() => Promise<boolean>)[]> = { [user.id]: [], [other.id]: [] };
    for (const { id } of [user, other])
      for (const name of owned) stored[id]!.push(...(await storeOwned(name, id)));
    const runs = [user, other].map(({ id }) => aRun({ userId: id }));
    for (const run of runs) {
      await stores.store.trackingRuns.insert({ ...run, activeUser: null });
      await stores.store.itemChanges.writeAll([0, 1, 2].map((place) => aChange(run.jobId, place)));
      const exists = async () =>
        (await stores.other.trackingRuns.get(run.jobId)) !== null &&
        (await stores.other.itemChanges.get(aChange(run.jobId, 2).id)) !== null;
      stored[run.userId]!.push(exists);
    }
    while ((await eraseUserRecords(stores.store, user.id, 2)) > 0);
    expect(await eraseUserRecords(stores.other, user.id, 100)).toBe(0);
    const left = (id: string) => Promise.all(stored[id]!.map((each) => each()));
    expect(new Set(await left(user.id))).toEqual(new Set([false]));
    expect(new Set(await left(other.id))).toEqual(new Set([true]));
  });

  test('eraseUserRecords() empties notes and details, and keeps the ledger and the audit log', async () => {
    const [user, other] = [aUser(), aUser()];
    const entry = { detail: '{"name":"Ana"}', source: '203.0.113.7' };
    for (const { id } of [user, other]) {
      await store('users', { ...aUser(), id });
      await stores.store.ledger.post(anEntry(id, 70, { note: 'for Ana', key: `grant:${id}` }));
      await store('auditLog', { id: `by ${id}`, actorId: id, ...entry });
      await store('auditLog', { id: `about ${id}`, target: id, ...entry });
    }
    while ((await eraseUserRecords(stores.store, user.id, 1)) > 0);
    const { auditLog } = stores.other;
    expect(await auditLog.get(`by ${user.id}`)).toMatchObject({ detail: '{}', source: '' });
    expect(await auditLog.get(`about ${user.id}`)).toMatchObject({ ...entry, detail: '{}' });
    for (const kind of ['by', 'about'])
      expect(await auditLog.get(`${kind} ${other.id}`)).toMatchObject(entry);
    expect(await stores.other.ledger.get(`grant:${user.id}`)).toMatchObject({
      amount: 70,
      note: '',
    });
    expect(await stores.other.ledger.get(`grant:${other.id}`)).toMatchObject({ note: 'for Ana' });
    expect(await stores.other.users.get(user.id)).toMatchObject({ balance: 70 });
  });
}
