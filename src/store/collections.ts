import type { Collection } from './collection.ts';
import type { Declaration, FieldOf } from './declaration.ts';
import { accountDeclarations } from './declarations/accounts.ts';
import { deliveryDeclarations } from './declarations/delivery.ts';
import { historyDeclarations } from './declarations/history.ts';
import { jobDeclarations } from './declarations/jobs.ts';
import { operationDeclarations } from './declarations/operations.ts';
import { scheduleDeclarations } from './declarations/schedules.ts';
import type { TrackingRun } from './history.ts';
import type { Schedule } from './schedules.ts';
import type { CollectionName, DeclaredCollections, StoredDocuments } from './stored-documents.ts';

/** Documents as reads return them. */
type ReadDocuments = Omit<StoredDocuments, 'schedules' | 'trackingRuns'> & {
  schedules: Schedule;
  trackingRuns: TrackingRun;
};

/** The declared collections of a store. */
export type Collections = {
  readonly [K in CollectionName]: StoredDocuments[K] extends ReadDocuments[K]
    ? Collection<ReadDocuments[K], StoredDocuments[K]>
    : never;
};

/**
 * Collections with the same code for both engines. To add one, add its document to
 * stored-documents.ts and its declaration to a file of declarations/, and write its module. Keys of
 * accounts, the creation and deletion of jobs, batches, the ledger, and origins have queries of
 * their own in each engine.
 */
const declaredCollections: DeclaredCollections = {
  ...accountDeclarations,
  ...jobDeclarations,
  ...operationDeclarations,
  ...deliveryDeclarations,
  ...scheduleDeclarations,
  ...historyDeclarations,
};

/** Declarations of the collections, with their names. */
export const declarations = Object.fromEntries(
  Object.entries(declaredCollections).map(([name, declared]) => [name, { ...declared, name }]),
) as unknown as { readonly [K in CollectionName]: Declaration<FieldOf<StoredDocuments[K]>> };

export const collectionNames = Object.keys(declarations) as CollectionName[];
