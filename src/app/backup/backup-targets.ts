import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { deleteBackup, isComplete } from './manifest.ts';

/** A scheduled backup. */
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
export function parseBackupTime(name: string): number | null {
  const [, day, hours, minutes, seconds] = namePattern.exec(name) ?? [];
  const at = Date.parse(`${day}${hours}:${minutes}:${seconds}`);
  return Number.isNaN(at) ? null : at;
}

/** Returns the entries of backups by name, oldest first. */
export const entriesOf = (names: readonly string[], isDone: (name: string) => boolean): BackupEntry[] =>
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
