import {
  Binary,
  type Document,
  type Filter,
  type IndexDescription,
  type Collection as Stored,
} from 'mongodb';
import { pathPart } from '../../contract/path-part.ts';
import {
  type Collection,
  hiddenFrom,
  listBy,
  partsOf,
  type Search,
  storedJson,
  type UpdateOptions,
  type Where,
} from '../collection.ts';
import { type Collections, declarations } from '../collections.ts';
import { type Declaration, type FieldOf, fixedFields, readFields, typeOf } from '../declaration.ts';
import type { CollectionName } from '../stored-documents.ts';
import { unlessDuplicate } from './duplicates.ts';

/**
 * A stored document. Its id is text: the value of a field, or several fields in an order-preserving
 * form.
 */
export type StoredDocument = Document & { _id: string };

/** Fields of new documents that only this engine has (posting.ts). */
const initialFields: Partial<Record<CollectionName, Document>> = {
  users: { openKeys: [], revision: 0 },
};

/** Digits of a number in an id: milliseconds and fractions of them. */
const numberLength = 20;

/**
 * Writes values so that ids with the same first values are adjacent, and numbers keep their order.
 */
const idText = (values: readonly unknown[]): string =>
  values
    .map((value) =>
      typeof value === 'number'
        ? Math.max(0, value).toFixed(4).padStart(numberLength, '0')
        : pathPart(String(value)),
    )
    .join('/');

/** Fields of a unique index that may be null, which are absent then: the index is sparse. */
const sparseFields = (declaration: Declaration): string[] =>
  (declaration.indexes ?? []).flatMap(({ unique, fields: [first = ''] }) =>
    unique && typeOf(declaration, first).isNullable ? [first] : [],
  );

/** Returns the indexes of a declared collection. */
export function indexesOf(declaration: Declaration): IndexDescription[] {
  const sparse = sparseFields(declaration);
  return (declaration.indexes ?? []).map(({ fields, unique, whereSet }) => ({
    key: Object.fromEntries(fields.map((field) => [nameIn(declaration, field), 1])),
    ...(unique ? { unique } : {}),
    ...(sparse.includes(fields[0]!) ? { sparse: true } : {}),
    ...(whereSet === undefined
      ? {}
      : { partialFilterExpression: { [whereSet]: setCondition(declaration, whereSet) } }),
  }));
}

function setCondition(declaration: Declaration, field: string): unknown {
  const { type } = typeOf(declaration, field);
  return type === 'boolean' ? true : { $gt: type === 'string' ? '' : 0 };
}

const nameIn = ({ id }: Declaration, field: string): string =>
  id.length === 1 && field === id[0] ? '_id' : field;

/** Converts a document for storage. */
export function writeDocument(declaration: Declaration, document: object): StoredDocument {
  const { id, fields } = declaration;
  const values = document as Record<string, unknown>;
  const sparse = sparseFields(declaration);
  const stored: StoredDocument = {
    _id:
      id.length === 1
        ? String(values[id[0]!]).toWellFormed()
        : idText(id.map((field) => values[field])),
    ...initialFields[declaration.name as CollectionName],
  };
  for (const field of Object.keys(fields)) {
    if (nameIn(declaration, field) === '_id' || (sparse.includes(field) && values[field] === null))
      continue;
    stored[field] = toStored(declaration, field, values[field]);
  }
  return stored;
}

function toStored(declaration: Declaration, field: string, value: unknown): unknown {
  const { type } = typeOf(declaration, field);
  if (value === null || value === undefined) return null;
  if (type === 'json') return storedJson(value);
  return type === 'bytes' ? new Binary(value as Uint8Array) : value;
}

function readDocument<T>(declaration: Declaration, fields: readonly string[], stored: Document): T {
  const document: Record<string, unknown> = {};
  for (const field of fields) {
    const value = stored[nameIn(declaration, field)] ?? null;
    const { type } = typeOf(declaration, field);
    if (value !== null && type === 'json') document[field] = JSON.parse(value);
    else document[field] = value !== null && type === 'bytes' ? (value as Binary).value() : value;
  }
  return document as T;
}

const operators: Readonly<Record<string, string>> = {
  is: '$eq',
  not: '$ne',
  in: '$in',
  above: '$gt',
  atLeast: '$gte',
  below: '$lt',
  atMost: '$lte',
};

function conditionOf(declaration: Declaration, field: string, condition: unknown): unknown {
  const parts = partsOf(condition);
  if (parts.length === 1 && parts[0]![0] === 'is') return parts[0]![1];
  const { type, isNullable } = typeOf(declaration, field);
  const isSet = parts.some(([operator, value]) =>
    operator === 'not' ? value === null : operator === 'below' || operator === 'atMost',
  );
  return {
    // Required for the partial indexes of times.
    ...(isSet && isNullable && type === 'number' ? { $gt: 0 } : {}),
    ...Object.fromEntries(parts.map(([operator, value]) => [operators[operator], value])),
  };
}

/** Values of the first fields of a compound id that the conditions name. */
function idPrefix({ id }: Declaration, where: Record<string, unknown>): unknown[] {
  const values: unknown[] = [];
  for (const field of id.length === 1 ? [] : id) {
    const [[operator, value] = ['', null]] = partsOf(where[field]);
    if (operator !== 'is' || value === null || value === undefined) break;
    values.push(value);
  }
  return values;
}

/**
 * Returns the filter of conditions. The first fields of a compound id become a range of ids, whose
 * index is used.
 */
function filterOf(declaration: Declaration, where: Where<never>): Filter<StoredDocument> {
  const conditions = Object.fromEntries(
    Object.entries(where).filter(([, condition]) => condition !== undefined),
  );
  const { filter, fields: idFields } = idFilter(declaration, conditions);
  for (const [field, condition] of Object.entries(conditions)) {
    if (!idFields.has(field))
      filter[nameIn(declaration, field)] = conditionOf(declaration, field, condition);
  }
  const hidden = hiddenFrom(declaration, conditions);
  if (hidden !== undefined)
    filter[hidden.field] = { ...filter[hidden.field], $nin: [...hidden.values] };
  return filter as Filter<StoredDocument>;
}

/** Returns the filter of a compound id, and the fields of the conditions that it covers. */
function idFilter(
  declaration: Declaration,
  conditions: Record<string, unknown>,
): { filter: Document; fields: ReadonlySet<string> } {
  const { id } = declaration;
  if (id.length === 1) return { filter: {}, fields: new Set() };
  const prefix = idPrefix(declaration, conditions);
  const fields = new Set<string>(id.slice(0, prefix.length));
  const next = id[prefix.length];
  if (next === undefined) return { filter: { _id: idText(prefix) }, fields };
  const parts = partsOf(conditions[next]);
  const { atLeast, below } = Object.fromEntries(parts) as { atLeast?: unknown; below?: unknown };
  const isRange = atLeast !== undefined || below !== undefined;
  if (prefix.length === 0 && !isRange) return { filter: {}, fields };
  if (isRange) fields.add(next);
  return { filter: { _id: idRange(prefix, atLeast, below) }, fields };
}

/** Returns the range of compound ids that begin with values, and whose next field is in a range. */
function idRange(prefix: readonly unknown[], atLeast: unknown, below: unknown): Document {
  const start = prefix.length === 0 ? '' : `${idText(prefix)}/`;
  const range: Document = { $gte: atLeast === undefined ? start : `${start}${idText([atLeast])}` };
  if (below !== undefined) range.$lt = `${start}${idText([below])}`;
  // '0' is the character after '/'.
  else if (start !== '') range.$lt = `${start.slice(0, -1)}0`;
  return range;
}

/**
 * Returns a filter that compares fields, in their order, with values. `last` compares the last
 * field.
 */
function comparing(
  fields: readonly string[],
  values: readonly unknown[],
  operator: '$lt' | '$gt',
  last: '$lt' | '$lte' | '$gt' = operator,
): Document {
  const alternatives = fields.map((field, index) => {
    const alternative: Document = {};
    for (const [position, equalField] of fields.slice(0, index).entries())
      alternative[equalField] = values[position];
    alternative[field] = { [index === fields.length - 1 ? last : operator]: values[index] };
    return alternative;
  });
  return alternatives.length > 1 ? { $or: alternatives } : (alternatives[0] ?? {});
}

/**
 * Returns the keys to sort by, and the values of `after` in them. The rest of a compound id whose
 * first fields are given is sorted by the id, whose index is used.
 */
function sortKeys(
  declaration: Declaration,
  where: object,
  order: readonly string[],
  after: readonly unknown[] | null,
): { keys: readonly string[]; position: readonly unknown[] | null } {
  const prefix = idPrefix(declaration, where as Record<string, unknown>);
  const isById =
    prefix.length > 0 &&
    order.every((field, index) => declaration.id[prefix.length + index] === field);
  if (!isById) return { keys: order.map((field) => nameIn(declaration, field)), position: after };
  return { keys: ['_id'], position: after === null ? null : [idText([...prefix, ...after])] };
}

/** Returns the projection of all fields but the lazy ones. */
const withoutLazy = ({ lazyFields = [] }: Declaration): Document =>
  Object.fromEntries(lazyFields.map((field) => [field, 0]));

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
  const find: Collection<T>['find'] = (
    where,
    { order = declaredOrder, newestFirst = false, after = null, limit, search } = {},
  ) =>
    run(async (collection) => {
      if (limit !== undefined && limit <= 0) return [];
      const { keys, position } = sortKeys(declaration, where, order, after);
      const terms: Document[] = [filter(where)];
      if (position !== null) terms.push(comparing(keys, position, newestFirst ? '$lt' : '$gt'));
      if (search !== undefined) terms.push(holding(declaration, search));
      const condition = terms.length > 1 ? { $and: terms } : terms[0]!;
      const cursor = collection.find(condition as Filter<StoredDocument>, { projection });
      cursor.sort(Object.fromEntries(keys.map((key) => [key, newestFirst ? -1 : 1])));
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
          sort: Object.fromEntries(
            order.map((field) => [nameIn(declaration, field), newestFirst ? -1 : 1]),
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
        const found = await collection
          .find(isDue, { projection: { [fence]: 1 } })
          .sort({ [dueTime]: 1, _id: 1 })
          .limit(limit)
          .toArray();
        const claimed = await Promise.all(
          found.map((stored) =>
            collection.findOneAndUpdate(
              { ...isDue, _id: stored._id, [fence]: stored[fence] } as Filter<StoredDocument>,
              {
                $set: { [dueTime]: leaseUntil },
                ...(claimCounter === undefined ? {} : { $inc: { [claimCounter]: 1 } }),
              } as Document,
              { returnDocument: 'after', projection },
            ),
          ),
        );
        const by = declaredOrder[0] as keyof T;
        return claimed
          .filter((stored) => stored !== null)
          .map(read)
          .sort((a, b) => Number(a[by]) - Number(b[by]));
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
        // A document that was written again meanwhile stays.
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

function holding(declaration: Declaration, { fields, text }: Search): Document {
  const pattern = createSubstringPattern(text);
  return { $or: fields.map((field) => ({ [nameIn(declaration, field)]: pattern })) };
}

/**
 * Creates a pattern for texts that contain `search`, ignoring case. It spells out the cases, since
 * servers do not agree on the letters that their case-insensitive option covers.
 */
function createSubstringPattern(search: string): RegExp {
  return new RegExp(Array.from(search, anyCase).join(''));
}

function anyCase(letter: string): string {
  const cases = new Set([letter, letter.toLowerCase(), letter.toUpperCase()]);
  return cases.size === 1
    ? escapeLiteral(letter)
    : `(?:${[...cases].map(escapeLiteral).join('|')})`;
}

/** Escapes text for the regular expressions of PCRE, Java, and JavaScript. */
const escapeLiteral = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
