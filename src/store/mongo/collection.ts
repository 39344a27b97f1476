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
  sparseFields,
  toStored,
  withoutLazy,
  writeDocument,
} from './documents.ts';
import { unlessDuplicate } from './duplicates.ts';
import { comparing, filterOf, queryOf, sortBy } from './filters.ts';

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
  const { id } = declaration;
  const declaredOrder = declaration.order as readonly string[] as readonly FieldOf<T>[];
  const name = declaration.name as CollectionName;
  const fields = readFields(declaration);
  const fixed = fixedFields(declaration);
  const projection = withoutLazy(declaration);
  const read = (stored: Document): T => readDocument<T>(declaration, fields, stored);
  const filter = (where: unknown) => filterOf(declaration, where as Where<never>);
  const write = (document: T) => writeDocument(declaration, document);
  const run = <R>(call: (collection: Stored<StoredDocument>) => Promise<R>) =>
    engine.run((collections) => call(collections[name] as Stored<StoredDocument>));

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
  const find: Collection<T>['find'] = (where, { order = declaredOrder, limit, ...options } = {}) =>
    run(async (collection) => {
      if (limit !== undefined && limit <= 0) return [];
      const query = queryOf(declaration, where, { ...options, order });
      const cursor = collection.find(query.filter, { projection }).sort(query.sort);
      if (limit !== undefined) cursor.limit(limit);
      return (await cursor.toArray()).map(read);
    });

  return {
    insert,
    find,
    list: listBy(declaration, find),

    writeAll: (inserts, updates = []) =>
      run(async (collection) => {
        if (inserts.length > 0) await insertAllNew(collection, inserts.map(write));
        const writes = updates.map(([where, change]) => ({
          updateOne: { filter: filter(where), update: updateOf(declaration, change) },
        }));
        if (writes.length > 0) await collection.bulkWrite(writes, { ordered: false });
      }),

    get: (...values) =>
      run(async (collection) => {
        const _id = id.length === 1 ? String(values[0]).toWellFormed() : idText(values);
        const found = await collection.findOne({ ...filter({}), _id }, { projection });
        return found && read(found);
      }),

    pick: (where, picked, { order = [], newestFirst = false, skip = 0 } = {}) =>
      run(async (collection) => {
        const pickedFields = Object.fromEntries(
          picked.map((field) => [nameIn(declaration, field), 1]),
        );
        // Without the id, an index alone may answer.
        const found = await collection.findOne(filter(where), {
          projection: { _id: 0, ...pickedFields },
          sort: sortBy(
            order.map((field) => nameIn(declaration, field)),
            newestFirst,
          ),
          skip,
        });
        return found && readDocument(declaration, picked, found);
      }),

    count: (where, limit) =>
      run((collection) => collection.countDocuments(filter(where), { limit })),

    countBy: (where, by) =>
      run(async (collection) => {
        const groups = await collection
          .aggregate<{ _id: never; count: number }>([
            { $match: filter(where) },
            {
              $group: {
                _id: Object.fromEntries(by.map((field) => [field, `$${field}`])),
                count: { $sum: 1 },
              },
            },
            { $sort: Object.fromEntries(by.map((field) => [`_id.${field}`, 1])) },
          ])
          .toArray();
        return groups.map(({ _id, count }) => ({ ...(_id as object), count })) as never;
      }),

    update: (where, change, options) => update(where, change, options as UpdateOptions<T>),

    put: async (document) => {
      if (document.revision === 1) return insert(document);
      const which = Object.fromEntries(fixed.map((field) => [field, document[field as keyof T]]));
      return (await update({ ...which, revision: document.revision - 1 }, document)) !== null;
    },

    upsert: (documents) =>
      run(async (collection) => {
        if (documents.length === 0) return;
        const {
          versionedBy,
          keepsEqual = false,
          insertOnly = [],
        } = declaration.upsert ?? { versionedBy: [] };
        const writes = documents.map((document) => {
          const { _id, ...stored } = write(document);
          const insertedFields = Object.fromEntries(
            insertOnly.map((field) => [field, stored[field]]),
          );
          for (const field of insertOnly) delete stored[field];
          const values = versionedBy.map((field) => (document as Record<string, unknown>)[field]);
          return {
            updateOne: {
              filter: {
                _id,
                ...comparing(versionedBy, values, '$lt', keepsEqual ? '$lt' : '$lte'),
              },
              update: {
                $set: stored,
                ...(insertOnly.length === 0 ? {} : { $setOnInsert: insertedFields }),
              },
              upsert: true,
            },
          };
        });
        // A document that is later does not match, so that its upsert is a duplicate.
        await unlessDuplicate(() => collection.bulkWrite(writes as never, { ordered: false }));
      }),

    accumulate: (documents) =>
      run(async (collection) => {
        const { counters = [] } = declaration;
        for (const document of documents) {
          const { _id, ...stored } = write(document);
          const counts = Object.fromEntries(counters.map((field) => [field, stored[field]]));
          for (const field of counters) delete stored[field];
          const change = { $inc: counts, $setOnInsert: stored } as Document;
          const add = () =>
            unlessDuplicate(() => collection.updateOne({ _id }, change, { upsert: true }));
          // Another process inserted the document first.
          if ((await add()) === null)
            await collection.updateOne({ _id }, { $inc: counts } as Document);
        }
      }),

    claimDue: (now, leaseUntil, limit, where = {}) =>
      run(async (collection) => {
        const { dueTime, claimCounter } = declaration;
        if (dueTime === undefined) throw new Error(`${name} has no due documents`);
        if (limit <= 0) return [];
        // $gt: 0 is required for the partial index.
        const isDue = {
          ...filter(where),
          [dueTime]: { $gt: 0, $lte: now },
        } as Filter<StoredDocument>;
        // Each claim changes both.
        const fence = claimCounter ?? dueTime;
        const due = await collection
          .find(isDue, { projection: { [fence]: 1 } })
          .sort({ [dueTime]: 1, _id: 1 })
          .limit(limit)
          .toArray();
        if (due.length === 0) return [];
        const claimId = newId();
        const claim = {
          $set: { [dueTime]: leaseUntil, claimId },
          ...(claimCounter === undefined ? {} : { $inc: { [claimCounter]: 1 } }),
        } as Document;
        const writes = due.map((stored) => ({
          updateOne: {
            filter: { ...isDue, _id: stored._id, [fence]: stored[fence] } as typeof isDue,
            update: claim,
          },
        }));
        await collection.bulkWrite(writes, { ordered: false });
        const ids = { _id: { $in: due.map(({ _id }) => _id) } };
        const which = { ...filter(where), ...ids, claimId } as Filter<StoredDocument>;
        const claimed = await collection.find(which, { projection }).toArray();
        const by = declaredOrder[0] as keyof T;
        return claimed.map(read).sort((a, b) => Number(a[by]) - Number(b[by]));
      }),

    remove: (where, limit) =>
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
      }),
  };
}

/** Returns the update that writes changed fields and adds numbers to others. */
function updateOf(
  declaration: Declaration,
  change: object,
  add: Record<string, number> = {},
): Document {
  const sparse = sparseFields(declaration);
  const written = Object.entries(change)
    .filter(([field, value]) => value !== undefined && nameIn(declaration, field) !== '_id')
    .map(([field, value]) => [field, toStored(declaration, field, value)] as const);
  const isUnset = ([field, value]: readonly [string, unknown]) =>
    value === null && sparse.includes(field);
  const parts = {
    $set: Object.fromEntries(written.filter((each) => !isUnset(each))),
    $inc: add,
    $unset: Object.fromEntries(written.filter(isUnset).map(([field]) => [field, ''])),
  };
  return Object.fromEntries(
    Object.entries(parts).filter(([, part]) => Object.keys(part).length > 0),
  );
}
