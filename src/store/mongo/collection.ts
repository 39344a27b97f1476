import type { Document, Filter, Collection as Stored } from 'mongodb';
import { newId } from '../../base/id.ts';
import { type Collection, listBy, type UpdateOptions, type Where } from '../collection.ts';
import { type Collections, declarations } from '../collections.ts';
import { type Declaration, type FieldOf, fixedFields, readFields } from '../declaration.ts';
import type { CollectionName } from '../stored-documents.ts';
import {
  idText,
  nameIn,
  readDocument,
  type StoredDocument,
  withoutLazy,
  writeDocument,
} from './documents.ts';
import { unlessDuplicate } from './duplicates.ts';
import { filterOf, queryOf, sortBy } from './filters.ts';
import { replacementOf, takeFields, updateOf } from './updates.ts';

/** Inserts a document. Returns false if its id exists. */
async function insertIfNew(
  collection: Stored<StoredDocument>,
  document: StoredDocument,
): Promise<boolean> {
  return (await unlessDuplicate(() => collection.insertOne(document))) !== null;
}

/** Inserts the documents whose ids do not exist yet. */
const insertAllNew = (collection: Stored<StoredDocument>, documents: StoredDocument[]) =>
  unlessDuplicate(() => collection.insertMany(documents, { ordered: false }));

/** A database of which a function gets the collections. */
interface Engine {
  run<R>(call: (collections: Readonly<Record<CollectionName, unknown>>) => Promise<R>): Promise<R>;
}

/** Creates the collections of a database. */
export function createCollections(engine: Engine): Collections {
  return Object.fromEntries(
    Object.entries(declarations).map(([name, declaration]) => [
      name,
      createCollection(engine, declaration),
    ]),
  ) as unknown as Collections;
}

/** Creates a declared collection. Lazy fields may be stored ones that are not declared. */
export function createCollection<T extends object>(
  engine: Engine,
  declaration: Declaration,
): Collection<T> {
  const target = targetOf<T>(engine, declaration);
  const find = createFind(target);
  return {
    find,
    list: listBy(declaration, find),
    ...createReads(target),
    ...createWrites(target),
    ...createMergingWrites(target),
    claimDue: createClaim(target),
    remove: createRemove(target),
  };
}

/** A declared collection of a database. */
interface Target<T> {
  declaration: Declaration;
  /** Leaves out the lazy fields. */
  projection: Document;
  run<R>(call: (collection: Stored<StoredDocument>) => Promise<R>): Promise<R>;
  read(stored: Document): T;
  write(document: T): StoredDocument;
  filter(where: unknown): Filter<StoredDocument>;
}

function targetOf<T extends object>(engine: Engine, declaration: Declaration): Target<T> {
  const name = declaration.name as CollectionName;
  const fields = readFields(declaration);
  return {
    declaration,
    projection: withoutLazy(declaration),
    run: (call) => engine.run((collections) => call(collections[name] as Stored<StoredDocument>)),
    read: (stored) => readDocument<T>(declaration, fields, stored),
    write: (document) => writeDocument(declaration, document),
    filter: (where) => filterOf(declaration, where as Where<never>),
  };
}

function createFind<T>({ declaration, projection, run, read }: Target<T>): Collection<T>['find'] {
  const declaredOrder = declaration.order as readonly string[] as readonly FieldOf<T>[];
  return (where, { order = declaredOrder, limit, ...options } = {}) =>
    run(async (collection) => {
      if (limit !== undefined && limit <= 0) return [];
      const query = queryOf(declaration, where, { ...options, order });
      const cursor = collection.find(query.filter, { projection }).sort(query.sort);
      if (limit !== undefined) cursor.limit(limit);
      return (await cursor.toArray()).map(read);
    });
}

type Reads = 'get' | 'pick' | 'count' | 'countBy';

function createReads<T>({
  declaration,
  projection,
  run,
  read,
  filter,
}: Target<T>): Pick<Collection<T>, Reads> {
  const isSingleId = declaration.id.length === 1;
  const storedName = (field: string) => nameIn(declaration, field);
  return {
    get: (...values) =>
      run(async (collection) => {
        const _id = isSingleId ? String(values[0]).toWellFormed() : idText(values);
        const found = await collection.findOne({ ...filter({}), _id }, { projection });
        return found && read(found);
      }),

    pick: (where, picked, { order = [], newestFirst = false, skip = 0 } = {}) =>
      run(async (collection) => {
        // Without the id, an index alone may answer.
        const pickedFields: Document = { _id: 0 };
        for (const field of picked) pickedFields[storedName(field)] = 1;
        const found = await collection.findOne(filter(where), {
          projection: pickedFields,
          sort: sortBy(order.map(storedName), newestFirst),
          skip,
        });
        return found && readDocument(declaration, picked, found);
      }),

    count: (where, limit) =>
      run((collection) => collection.countDocuments(filter(where), { limit })),

    countBy: (where, by) =>
      run(async (collection) => {
        const group: Document = {};
        const sort: Record<string, 1> = {};
        for (const field of by) {
          group[field] = `$${field}`;
          sort[`_id.${field}`] = 1;
        }
        const groups = await collection
          .aggregate<{ _id: object; count: number }>([
            { $match: filter(where) },
            { $group: { _id: group, count: { $sum: 1 } } },
            { $sort: sort },
          ])
          .toArray();
        return groups.map(({ _id, count }) => ({ ..._id, count })) as never;
      }),
  };
}

type Writes = 'insert' | 'writeAll' | 'update' | 'put';

function createWrites<T extends object>({
  declaration,
  projection,
  run,
  read,
  write,
  filter,
}: Target<T>): Pick<Collection<T>, Writes> {
  const fixed = fixedFields(declaration);
  const insert = (document: T) => run((collection) => insertIfNew(collection, write(document)));
  const update = (where: unknown, change: object, { add }: UpdateOptions<T> = {}) =>
    run(async (collection): Promise<T | null> => {
      const fieldChanges = updateOf(declaration, change, add as Record<string, number>);
      const options = { returnDocument: 'after', projection } as const;
      const changed = await unlessDuplicate(() =>
        collection.findOneAndUpdate(filter(where), fieldChanges, options),
      );
      return changed && read(changed);
    });
  return {
    insert,

    writeAll: (inserts, updates = []) =>
      run(async (collection) => {
        if (inserts.length > 0) await insertAllNew(collection, inserts.map(write));
        const writes = updates.map(([where, change]) => ({
          updateOne: { filter: filter(where), update: updateOf(declaration, change) },
        }));
        if (writes.length > 0) await collection.bulkWrite(writes, { ordered: false });
      }),

    update: (where, change, options) => update(where, change, options as UpdateOptions<T>),

    put: async (document) => {
      if (document.revision === 1) return insert(document);
      const which: Record<string, unknown> = { revision: document.revision - 1 };
      for (const field of fixed) which[field] = document[field as keyof T];
      return (await update(which, document)) !== null;
    },
  };
}

/** Creates the writes that merge a document with the stored one. */
function createMergingWrites<T>({
  declaration,
  run,
  write,
}: Target<T>): Pick<Collection<T>, 'upsert' | 'accumulate'> {
  const { counters = [] } = declaration;
  return {
    upsert: (documents) =>
      run(async (collection) => {
        if (documents.length === 0) return;
        const writes = documents.map((document) => ({
          updateOne: replacementOf(declaration, write(document), document as object),
        }));
        // A document that is later does not match, so that its upsert is a duplicate.
        await unlessDuplicate(() => collection.bulkWrite(writes as never, { ordered: false }));
      }),

    accumulate: (documents) =>
      run(async (collection) => {
        for (const document of documents) {
          const { _id, ...stored } = write(document);
          const counts = takeFields(stored, counters);
          const change = { $inc: counts, $setOnInsert: stored } as Document;
          const added = await unlessDuplicate(() =>
            collection.updateOne({ _id }, change, { upsert: true }),
          );
          // Another process inserted the document first.
          if (added === null) await collection.updateOne({ _id }, { $inc: counts } as Document);
        }
      }),
  };
}

function createClaim<T>({
  declaration,
  projection,
  run,
  read,
  filter,
}: Target<T>): Collection<T>['claimDue'] {
  const { name, order, dueTime, claimCounter } = declaration;
  return (now, leaseUntil, limit, where: Where<T> = {} as Where<T>) =>
    run(async (collection) => {
      if (dueTime === undefined) throw new Error(`${name} has no due documents`);
      if (limit <= 0) return [];
      const matches = filter(where);
      // $gt: 0 is required for the partial index.
      const isDue = { ...matches, [dueTime]: { $gt: 0, $lte: now } } as Filter<StoredDocument>;
      // Each claim changes both.
      const fence = claimCounter ?? dueTime;
      const due = await collection
        .find(isDue, { projection: { [fence]: 1 } })
        .sort({ [dueTime]: 1, _id: 1 })
        .limit(limit)
        .toArray();
      if (due.length === 0) return [];
      const claimId = newId();
      const claim: Document = { $set: { [dueTime]: leaseUntil, claimId } };
      if (claimCounter !== undefined) claim.$inc = { [claimCounter]: 1 };
      const writes = due.map((stored) => ({
        updateOne: {
          filter: { ...isDue, _id: stored._id, [fence]: stored[fence] } as typeof isDue,
          update: claim,
        },
      }));
      await collection.bulkWrite(writes, { ordered: false });
      const ids = { $in: due.map(({ _id }) => _id) };
      const isClaimed = { ...matches, _id: ids, claimId } as Filter<StoredDocument>;
      const claimed = await collection.find(isClaimed, { projection }).toArray();
      const by = order[0] as keyof T;
      return claimed.map(read).sort((one, other) => Number(one[by]) - Number(other[by]));
    });
}

const createRemove =
  <T>({ run, filter }: Target<T>): Collection<T>['remove'] =>
  (where, limit) =>
    run(async (collection) => {
      const which = filter(where);
      if (limit === undefined) return (await collection.deleteMany(which)).deletedCount;
      const found = await collection
        .find(which, { projection: { _id: 1 } })
        .limit(limit)
        .toArray();
      if (found.length === 0) return 0;
      // A document that no longer matches was written concurrently, and stays.
      const ids = { _id: { $in: found.map(({ _id }) => _id) } };
      return (await collection.deleteMany({ $and: [which, ids] })).deletedCount;
    });
