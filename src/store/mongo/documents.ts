import { Binary, type Document, type IndexDescription } from 'mongodb';
import { pathPart } from '../../contract/path-part.ts';
import { storedJson } from '../collection.ts';
import { type Declaration, typeOf } from '../declaration.ts';
import type { CollectionName } from '../stored-documents.ts';

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
export const idText = (values: readonly unknown[]): string =>
  values
    .map((value) =>
      typeof value === 'number'
        ? Math.max(0, value).toFixed(4).padStart(numberLength, '0')
        : pathPart(String(value)),
    )
    .join('/');

/** Fields of a unique index that may be null, which are absent then: the index is sparse. */
export const sparseFields = (declaration: Declaration): string[] =>
  (declaration.indexes ?? []).flatMap(({ unique, fields: [first = ''] }) =>
    unique && typeOf(declaration, first).isNullable ? [first] : [],
  );

/** Returns the indexes of a declared collection. */
export function indexesOf(declaration: Declaration): IndexDescription[] {
  const sparse = sparseFields(declaration);
  return (declaration.indexes ?? []).map(({ fields, unique, whereSet }) => {
    const key = Object.fromEntries(fields.map((field) => [nameIn(declaration, field), 1]));
    const index: IndexDescription = { key };
    if (unique) index.unique = true;
    if (sparse.includes(fields[0]!)) index.sparse = true;
    if (whereSet !== undefined) {
      const isSet = setCondition(declaration, whereSet);
      index.partialFilterExpression = { [whereSet]: isSet };
    }
    return index;
  });
}

function setCondition(declaration: Declaration, field: string): unknown {
  const { type } = typeOf(declaration, field);
  return type === 'boolean' ? true : { $gt: type === 'string' ? '' : 0 };
}

export const nameIn = ({ id }: Declaration, field: string): string =>
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

export function toStored(declaration: Declaration, field: string, value: unknown): unknown {
  const { type } = typeOf(declaration, field);
  if (value === null || value === undefined) return null;
  if (type === 'json') return storedJson(value);
  return type === 'bytes' ? new Binary(value as Uint8Array) : value;
}

export function readDocument<T>(
  declaration: Declaration,
  fields: readonly string[],
  stored: Document,
): T {
  const document: Record<string, unknown> = {};
  for (const field of fields) {
    const value = stored[nameIn(declaration, field)] ?? null;
    const { type } = typeOf(declaration, field);
    if (value !== null && type === 'json') document[field] = JSON.parse(value);
    else document[field] = value !== null && type === 'bytes' ? (value as Binary).value() : value;
  }
  return document as T;
}

/** Returns the projection of all fields but the lazy ones. */
export const withoutLazy = ({ lazyFields = [] }: Declaration): Document =>
  Object.fromEntries(lazyFields.map((field) => [field, 0]));
