import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Backup, copySecrets, referencedFiles, withStore } from '../backup/copy-files.ts';
import { type Config, ConfigError } from '../base/config.ts';
import { NewerDataError } from '../base/data-refused-error.ts';
import { type Blobs, computeDigest, type Digest } from '../blobs/blobs.ts';
import { openFiles } from '../blobs/files/open.ts';
import { Fault } from '../contract/fault.ts';
import { type Audit, audit } from '../jobs/queries/audit.ts';
import type { ReferencedFile } from '../jobs/steps/merged-file.ts';
import { lockData, requireData } from '../stack/data-folder.ts';
import { openBlobs, resultsFolder, storeFile } from '../stack/stack.ts';
import type { Store } from '../store/store.ts';
import type { ContentKind, StoreImport } from '../store/store-export.ts';
import { runAudit } from './store-commands.ts';

/** A finished step of a move. */
export type MoveStep = 'begin' | 'file' | 'files' | ContentKind | 'verified' | 'complete';

/** Called after a step of a move, which waits for the result. */
export type OnStep = (step: MoveStep) => unknown;

/** Result of moveData(). */
export interface Moved extends Backup {
  documents: Record<string, number>;
  /** Audit of the target, equal to the source's audit. */
  audit: Audit;
}

/**
 * Copies a stopped embedded service to the distributed stack of the configuration, and verifies the
 * copy. The source is not changed. An interrupted move leaves a database that every role refuses,
 * and continues when it is repeated. Throws a ConfigError if the source has no data, is in use, or
 * has another schema version, or if the target is not empty.
 */
export async function moveData(
  config: Config,
  source: string,
  onStep: OnStep = () => {},
): Promise<Moved> {
  const { mongoUri } = config;
  if (mongoUri === null)
    throw new ConfigError(
      'move copies to the distributed stack: set MONGODB_URI and NATS_URL to its engines.',
    );
  const from: Config = {
    ...config,
    dataDir: resolve(source),
    mongoUri: null,
    natsUrl: null,
  };
  await requireData(from, 'Name the data folder of the embedded service.');
  const unlock = await lockData(
    from,
    'Stop that process: the data must not change while they are copied.',
  );
  try {
    await requireCurrentSchema(join(from.dataDir, storeFile));
    const { openImport } = await import('../store/mongo/import.ts');
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

/**
 * Throws a NewerDataError or a ConfigError if a data file has another schema version than this
 * program.
 */
async function requireCurrentSchema(path: string): Promise<void> {
  const { readSchemaVersion } = await import('../store/sqlite/export.ts');
  const { found, supported } = readSchemaVersion(path);
  if (found > supported) throw new NewerDataError(`SQLite file ${path}`, found, supported);
  if (found < supported)
    throw new ConfigError(
      `SQLite file ${path} has schema version ${found}, this program has ${supported}. ` +
        `Run 'gleaner migrate' on it first.`,
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
  // The moved installation keeps its identity, and its data folder.
  await target.complete(await withStore(database, (store) => store.installationId()));
  await onStep('complete');
  return { ...files, documents, audit: after };
}

async function copyDocuments(
  database: string,
  target: StoreImport,
  onStep: OnStep,
): Promise<Record<string, number>> {
  const { openExport } = await import('../store/sqlite/export.ts');
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

/** Files copied at the same time. */
const concurrency = 8;

/**
 * Copies the referenced files of a data folder to the result storage of the configuration, and
 * reads every copy back. Files that an interrupted move has copied are not copied again. If both
 * are the same storage, the files are only verified. Throws `malformed` if a copy differs.
 */
async function moveFiles(
  store: Store,
  dataDir: string,
  config: Config,
  target: Blobs,
  onFile: () => void,
): Promise<Backup> {
  const folder = join(dataDir, resultsFolder);
  const isInPlace = config.s3Url === null && resolve(config.dataDir) === dataDir;
  const source = isInPlace || !existsSync(folder) ? null : openFiles({ directory: folder });
  const moved: Backup = { files: 0, bytes: 0, lost: [] };
  const move = async (file: ReferencedFile) => {
    const digest = await moveFile(file, source, target);
    if (digest === null || (file.sha256 !== undefined && file.sha256 !== digest.sha256))
      moved.lost.push(file.path);
    if (digest === null) return;
    moved.files += 1;
    moved.bytes += digest.bytes;
    onFile();
  };
  try {
    for await (const { job, files } of referencedFiles(store)) {
      // Files that the source replaced between an interrupted move and this one.
      const copied = source === null ? [] : await target.listJob(job.id);
      await target.remove(copied.filter((path) => !files.has(path)));
      const waiting = files.values();
      const moveWaiting = async () => {
        for (const file of waiting) await move(file);
      };
      await Promise.all(Array.from({ length: concurrency }, moveWaiting));
    }
    return moved;
  } finally {
    await source?.close();
  }
}

/**
 * Copies a file that the source has, and returns its digest, or that in the target. Null if neither
 * has it.
 */
async function moveFile(
  file: ReferencedFile,
  source: Blobs | null,
  target: Blobs,
): Promise<Digest | null> {
  const original = source === null ? null : await digestIn(source, file.path);
  if (source === null || original === null) return digestIn(target, file.path);
  await copyFile(source, target, file, original);
  return original;
}

/** Copies a file unless the target has it. Throws `malformed` if the copy differs. */
async function copyFile(
  source: Blobs,
  target: Blobs,
  file: ReferencedFile,
  expected: Digest,
): Promise<void> {
  const { path, contentType = 'application/octet-stream' } = file;
  if ((await target.size(path)) === expected.bytes) {
    if ((await digestIn(target, path))?.sha256 === expected.sha256) return;
  }
  await target.write(path, contentType, await source.read(path), () => 0);
  const copy = await digestIn(target, path);
  if (copy?.sha256 !== expected.sha256)
    throw new Fault(
      'malformed',
      `${target.engine}: the copy of ${path} has the SHA-256 ` +
        `${copy?.sha256}, the original ${expected.sha256}`,
    );
}

/** Reads a file. Returns null if it does not exist. */
async function digestIn(blobs: Blobs, path: string): Promise<Digest | null> {
  if ((await blobs.size(path)) === null) return null;
  return computeDigest(await blobs.read(path));
}
