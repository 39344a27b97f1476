import { createReadStream, createWriteStream, existsSync, readdirSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openPrivateFolder } from '../base/data-dir.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { Fault } from '../contract/fault.ts';
import { resultsFolder, storeFile } from '../stack/stack.ts';
import {
  deleteBackup,
  isComplete,
  localPathOf,
  manifestName,
  readFiles,
  readHeader,
} from './manifest.ts';

export interface BackupEntry {
  name: string;
  /** Start of the backup. */
  at: number;
  isComplete: boolean;
}

/** Where scheduled backups are kept. */
export interface BackupTarget {
  /** Lists the scheduled backups, oldest first. Ignores everything else. */
  list(): Promise<BackupEntry[]>;
  /** Makes a backup, and returns the number of lost files. Rejects if it fails. */
  backUp(name: string, signal: AbortSignal): Promise<number>;
  delete(name: string): Promise<void>;
}

/** Makes a backup in a new folder, and returns the number of lost files. */
export type BackUp = (folder: string, signal: AbortSignal) => Promise<number>;

const namePattern = /^gleaner-(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\dZ)$/;

/** Returns the name of a backup: `gleaner-2026-03-01T02-00-00Z`. */
export const formatBackupName = (at: number): string =>
  `gleaner-${new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')}Z`;

/** Returns the start of a backup, or null for another name. */
function parseBackupTime(name: string): number | null {
  const [, day, hours, minutes, seconds] = namePattern.exec(name) ?? [];
  const at = Date.parse(`${day}${hours}:${minutes}:${seconds}`);
  return Number.isNaN(at) ? null : at;
}

/** Returns the entries of backups by name, oldest first. */
const entriesOf = (names: readonly string[], isDone: (name: string) => boolean): BackupEntry[] =>
  names
    .flatMap((name) => {
      const at = parseBackupTime(name);
      return at === null ? [] : [{ name, at, isComplete: isDone(name) }];
    })
    .sort((one, other) => one.at - other.at);

/** Creates a place in a folder, which is created with the first backup. */
export function folderTarget(folder: string, backUp: BackUp): BackupTarget {
  const pathOf = (name: string) => join(folder, name);
  return {
    list: async () =>
      entriesOf(existsSync(folder) ? readdirSync(folder) : [], (name) => isComplete(pathOf(name))),
    backUp: (name, signal) => backUp(pathOf(name), signal),
    delete: (name) => deleteBackup(pathOf(name)),
  };
}

/*
 * Objects of a backup in a bucket: `<name>/manifest.jsonl`, `<name>/gleaner.db`,
 * `<name>.<job id>/<result file>`. The object `backups/<name>.started` is written first,
 * `backups/<name>.complete` last.
 */

const index = 'backups';
const started = (name: string) => `${index}/${name}.started`;
const completed = (name: string) => `${index}/${name}.complete`;

/** Returns the path in the bucket of a file of the manifest. */
function objectOf(name: string, path: string): string {
  const [folder, job, file] = path.split('/');
  if (folder === resultsFolder) return `${name}.${job}/${file}`;
  return `${name}/${path}`;
}

/**
 * Creates a place in a bucket. Each backup is first made in the folder `staging`, which is deleted
 * afterwards.
 */
export function bucketTarget(bucket: Blobs, staging: string, backUp: BackUp): BackupTarget {
  return {
    async list() {
      const marks = new Set(await bucket.listJob(index));
      const names = [...marks].map((path) =>
        path.replace(`${index}/`, '').replace(/\.(?:started|complete)$/, ''),
      );
      return entriesOf([...new Set(names)], (name) => marks.has(completed(name)));
    },

    async backUp(name, signal) {
      await rm(staging, { recursive: true, force: true });
      try {
        const lost = await backUp(staging, signal);
        await writeText(bucket, started(name));
        // Before the files, so that delete() finds the ones of an interrupted upload.
        await upload(bucket, objectOf(name, manifestName), join(staging, manifestName));
        for await (const { path } of readFiles(staging)) {
          signal.throwIfAborted();
          await upload(bucket, objectOf(name, path), join(staging, path));
        }
        await writeText(bucket, completed(name));
        return lost;
      } finally {
        await rm(staging, { recursive: true, force: true });
      }
    },

    async delete(name) {
      await bucket.remove([completed(name)]);
      for (const job of await jobsOf(bucket, name, staging))
        await bucket.removeJob(`${name}.${job}`);
      await bucket.removeJob(name);
      await bucket.remove([started(name)]);
    },
  };
}

/**
 * Downloads a backup to a new folder. Throws `not_found` if the bucket does not contain it, or not
 * all of it.
 */
export async function downloadBackup(bucket: Blobs, name: string, folder: string): Promise<void> {
  if (parseBackupTime(name) === null || (await bucket.size(completed(name))) === null)
    throw new Fault('not_found', `the bucket has no complete backup ${JSON.stringify(name)}`);
  openPrivateFolder(folder);
  await download(bucket, objectOf(name, manifestName), join(folder, manifestName));
  await readHeader(folder);
  for await (const { path } of readFiles(folder)) {
    const localPath = path === storeFile ? path : localPathOf(path);
    await download(bucket, objectOf(name, path), join(folder, localPath));
  }
}

/** Returns the ids of the jobs with files in a backup. */
async function jobsOf(bucket: Blobs, name: string, staging: string): Promise<Set<string>> {
  const jobs = new Set<string>();
  const manifest = objectOf(name, manifestName);
  if ((await bucket.size(manifest)) === null) return jobs;
  try {
    await download(bucket, manifest, join(staging, manifestName));
    for await (const { path } of readFiles(staging)) {
      const [folder, job] = path.split('/');
      if (folder === resultsFolder && job !== undefined) jobs.add(job);
    }
    return jobs;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function upload(bucket: Blobs, path: string, file: string): Promise<void> {
  await bucket.write(path, 'application/octet-stream', createReadStream(file), () => 0);
}

async function download(bucket: Blobs, path: string, file: string): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await pipeline(await bucket.read(path), createWriteStream(file, { flags: 'wx', mode: 0o600 }));
}

async function writeText(bucket: Blobs, path: string): Promise<void> {
  const empty = async function* () {
    yield '\n';
  };
  await bucket.write(path, 'text/plain', empty(), () => 0);
}
