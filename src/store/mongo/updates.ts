import type { Document } from 'mongodb';
import type { Declaration } from '../declaration.ts';
import { nameIn, type StoredDocument, sparseFields, toStored } from './documents.ts';
import { comparing } from './filters.ts';

/** Returns the update that writes changed fields and adds numbers to others. */
export function updateOf(
  declaration: Declaration,
  change: object,
  add: Record<string, number> = {},
): Document {
  const sparse = sparseFields(declaration);
  const set: Document = {};
  const unset: Document = {};
  for (const [field, value] of Object.entries(change)) {
    if (value === undefined || nameIn(declaration, field) === '_id') continue;
    const stored = toStored(declaration, field, value);
    if (stored === null && sparse.includes(field)) unset[field] = '';
    else set[field] = stored;
  }
  const update: Document = {};
  if (Object.keys(set).length > 0) update.$set = set;
  if (Object.keys(add).length > 0) update.$inc = add;
  if (Object.keys(unset).length > 0) update.$unset = unset;
  return update;
}

/** Removes fields of a document, and returns them. */
export function takeFields(document: Document, fields: readonly string[]): Document {
  const taken: Document = {};
  for (const field of fields) {
    taken[field] = document[field];
    delete document[field];
  }
  return taken;
}

/** Returns the upsert that replaces the stored document, unless that has a later version. */
export function replacementOf(
  { upsert }: Declaration,
  { _id, ...stored }: StoredDocument,
  document: object,
): { filter: Document; update: Document; upsert: true } {
  const { versionedBy, keepsEqual = false, insertOnly = [] } = upsert ?? { versionedBy: [] };
  const versions = versionedBy.map((field) => (document as Record<string, unknown>)[field]);
  const isOlder = comparing(versionedBy, versions, '$lt', keepsEqual ? '$lt' : '$lte');
  const insertedFields = takeFields(stored, insertOnly);
  const update: Document = { $set: stored };
  if (insertOnly.length > 0) update.$setOnInsert = insertedFields;
  return { filter: { _id, ...isOlder }, update, upsert: true };
}
