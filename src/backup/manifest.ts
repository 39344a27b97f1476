import { createReadStream, existsSync, readdirSync, renameSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ConfigError } from '../base/config.ts';
import { openPrivateFile } from '../base/data-dir.ts';
import { linesOf } from '../base/read-lines.ts';
import { syncFolder } from '../base/sync-folder.ts';
import { computeDigest, type Digest, parsePath } from '../blobs/blobs.ts';
import { Fault } from '../contract/fault.ts';
import { secretsFile } from '../links/secrets.ts';
import { resultsFolder } from '../stack/stack.ts';

export interface ManifestFile extends Digest {
  /** Path in the backup, with `/`. */
  path: string;
}

/** First line of a manifest. */
export interface ManifestHeader {
  format: 'gleaner-backup-1';
  createdAt: string;
  /** Version of the program that made the backup. */
  program: string;
  schemaVersion: number;
}

/** Last line of a manifest. */
export interface ManifestEnd {
  files: number;
  bytes: number;
}

/**
 * Name of the manifest, which exists only in a complete backup: JSON Lines with header, files, and
 * end.
 */
export const manifestName = 'manifest.jsonl';

/** Returns true if a folder contains a complete backup. */
export const isComplete = (folder: string): boolean => existsSync(join(folder, manifestName));

/** Deletes a backup. If it is interrupted, the backup is incomplete. */
export async function deleteBackup(folder: string): Promise<void> {
  await rm(join(folder, manifestName), { force: true });
  await rm(folder, { recursive: true });
}

/** Computes the size and digest of a file. */
export async function describeFile(folder: string, path: string): Promise<ManifestFile> {
  return { path, ...(await computeDigest(createReadStream(join(folder, path)))) };
}

/** Writes the manifest and makes the backup complete. `written` is called before that. */
export async function writeManifest(
  folder: string,
  header: ManifestHeader,
  files: AsyncIterable<ManifestFile>,
  written: () => void,
): Promise<ManifestEnd> {
  const draft = join(folder, `${manifestName}.incomplete`);
  const end: ManifestEnd = { files: 0, bytes: 0 };
  openPrivateFile(draft);
  const handle = await open(draft, 'w');
  try {
    const add = (line: object) => handle.write(`${JSON.stringify(line)}\n`);
    await add(header);
    for await (const file of files) {
      await add(file);
      end.files += 1;
      end.bytes += file.bytes;
    }
    await add(end);
    await handle.sync();
  } finally {
    await handle.close();
  }
  written();
  renameSync(draft, join(folder, manifestName));
  syncFolder(folder);
  return end;
}

/** Returns the path of the last complete backup in a folder by name; undefined if there is none. */
function newestIn(folder: string): string | undefined {
  const names = existsSync(folder) ? readdirSync(folder).toSorted() : [];
  return names.map((name) => join(folder, name)).findLast(isComplete);
}

/**
 * Reads the header of a backup. Throws a ConfigError if the folder does not contain a complete
 * backup.
 */
export async function readHeader(folder: string): Promise<ManifestHeader> {
  if (!isComplete(folder)) {
    const newest = newestIn(folder);
    const hint = newest === undefined ? '' : ` Restore one of its backups, such as ${newest}.`;
    throw new ConfigError(`${folder} is not a complete backup: it has no ${manifestName}.${hint}`);
  }
  let header: Partial<ManifestHeader> | undefined;
  let last: Partial<ManifestEnd> = {};
  let lines = 0;
  for await (const line of entriesOf(folder)) {
    last = line;
    header ??= last as Partial<ManifestHeader>;
    lines += 1;
  }
  if (header?.format !== 'gleaner-backup-1' || last.files !== lines - 2)
    throw new Fault(
      'malformed',
      `${join(folder, manifestName)} is damaged or of an unknown format`,
    );
  return header as ManifestHeader;
}

/**
 * Returns the path of a file in a backup and in the data folder. Throws `malformed` for a path that
 * no backup contains.
 */
export function localPathOf(path: string): string {
  if (path === secretsFile) return path;
  const [folder, ...rest] = path.split('/');
  try {
    if (folder === resultsFolder && parsePath(rest.join('/'))) return path;
  } catch {
    // The same error as for every other unknown path.
  }
  throw new Fault(
    'malformed',
    `the manifest names ${JSON.stringify(path.slice(0, 200))}, which no backup contains`,
  );
}

export async function* readFiles(folder: string): AsyncGenerator<ManifestFile> {
  for await (const line of entriesOf(folder)) if ('path' in line) yield line as ManifestFile;
}

async function* entriesOf(folder: string): AsyncGenerator<object> {
  const path = join(folder, manifestName);
  for await (const line of linesOf(createReadStream(path))) {
    try {
      yield JSON.parse(line) as object;
    } catch {
      throw new Fault('malformed', `${path} is damaged: "${line.slice(0, 80)}" is not JSON`);
    }
  }
}
