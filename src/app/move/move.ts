import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Config, ConfigError } from '../../base/config.ts';
import { NewerDataError } from '../../base/data-refused-error.ts';
import type { Blobs } from '../../blobs/blobs.ts';
import { Fault } from '../../contract/fault.ts';
import { type Audit, audit } from '../../jobs/queries/audit.ts';
import type { ContentKind, StoreImport } from '../../store/store-export.ts';
import { copySecrets, withStore } from '../backup/copy-files.ts';
import { lockData, requireData } from '../data-folder.ts';
import { openBlobs, storeFile } from '../stack.ts';
import { runAudit } from '../store-commands.ts';
import { type MovedFiles, moveFiles } from './files.ts';

/** A finished step of a move. */
export type MoveStep = 'begin' | 'file' | 'files' | ContentKind | 'verified' | 'complete';

/** Called after a step of a move, which waits for the result. */
export type OnStep = (step: MoveStep) => unknown;

/** Result of moveData(). */
export interface Moved extends MovedFiles {
  /** Number of documents by kind. */
  documents: Record<string, number>;
  /** Audit of the target, equal to the source's audit. */
  audit: Audit;
}

/**
 * Copies a stopped embedded service to the distributed stack of the configuration, and verifies the copy. The
 * source is not changed. An interrupted move leaves a database that every role refuses, and continues when it
 * is repeated. Throws a ConfigError if the source has no data, is in use, or has another schema version, or
 * if the target is not empty.
 */
export async function moveData(config: Config, source: string, onStep: OnStep = () => {}): Promise<Moved> {
  const { mongoUri } = config;
  if (mongoUri === null)
    throw new ConfigError(
      'move copies to the distributed stack: set MONGODB_URI and NATS_URL to its engines.',
    );
  const from: Config = { ...config, dataDir: resolve(source), mongoUri: null, natsUrl: null };
  requireData(from, 'Name the data folder of the embedded service.');
  const unlock = await lockData(from);
  try {
    await requireCurrentSchema(join(from.dataDir, storeFile));
    const { openImport } = await import('../../store/mongo/import.ts');
    const target = openImport(mongoUri, from.dataDir);
    const blobs = await openBlobs(config);
    try {
      return await copyAll(config, from, { target, blobs }, onStep);
    } finally {
      await blobs.close();
      await target.close();
    }
  } finally {
    unlock();
  }
}

/** Throws a NewerDataError or a ConfigError if a data file has another schema version than this program. */
async function requireCurrentSchema(path: string): Promise<void> {
  const { readSchemaVersion } = await import('../../store/sqlite/export.ts');
  const { found, supported } = readSchemaVersion(path);
  if (found > supported) throw new NewerDataError(`SQLite file ${path}`, found, supported);
  if (found < supported)
    throw new ConfigError(
      `SQLite file ${path} has schema version ${found}, this program has ${supported}. Run 'gleaner migrate' on it first.`,
    );
}

async function copyAll(
  config: Config,
  from: Config,
  { target, blobs }: { target: StoreImport; blobs: Blobs },
  onStep: OnStep,
): Promise<Moved> {
  await blobs.ping();
  const before = await runAudit(from);
  await target.begin();
  await onStep('begin');
  const database = join(from.dataDir, storeFile);
  const files = await withStore(database, (store) =>
    moveFiles(store, from.dataDir, config, blobs, () => onStep('file')),
  );
  await onStep('files');
  await copySecrets(from.dataDir, config.dataDir);
  const documents = await copyDocuments(database, target, onStep);
  await target.verify();
  const after = await audit(target.store);
  if (!isDeepStrictEqual(after, before))
    throw new Fault(
      'malformed',
      `the audits of source and target differ: ${JSON.stringify(before)}, ${JSON.stringify(after)}`,
    );
  await onStep('verified');
  await target.complete();
  await onStep('complete');
  return { ...files, documents, audit: after };
}

async function copyDocuments(
  database: string,
  target: StoreImport,
  onStep: OnStep,
): Promise<Record<string, number>> {
  const { openExport } = await import('../../store/sqlite/export.ts');
  const contents = openExport(database);
  const documents: Record<string, number> = {};
  try {
    for (const kind of contents.kinds) {
      documents[kind] = await target.write(kind, contents.read(kind));
      await onStep(kind);
    }
  } finally {
    contents.close();
  }
  return documents;
}
