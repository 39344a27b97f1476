import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { deleteBackup, isComplete } from './manifest.ts';

/** Where and how often backups are made. */
export interface BackupSchedule {
  /** Folder with one folder per backup. Created if missing. */
  folder: string;
  /** Time between the starts of backups. */
  everyMs: number;
  /** Number of complete backups to keep. */
  keep: number;
}

/** Options for createScheduledBackups(). */
export interface ScheduledBackupOptions extends BackupSchedule {
  clock: Clock;
  log: Log;
  /** Makes a backup in a new folder, and returns the number of lost files. Rejects if it fails. */
  backUp(folder: string, signal: AbortSignal): Promise<number>;
}

/** Backups at regular times. */
export interface ScheduledBackups {
  /** Start of the newest complete backup; null if there is none. */
  lastSuccessAt(): number | null;
  /** Time since the next backup was due; 0 if it is not due yet. */
  overdueMs(): number;
  /** Makes backups until the signal is aborted. Resolves when the last one has ended. */
  run(signal: AbortSignal): Promise<void>;
}

/** Time after which a failed backup is repeated, in milliseconds. */
const retryMs = 900_000;
const namePattern = /^gleaner-(\d{4}-\d\d-\d\dT)(\d\d)-(\d\d)-(\d\dZ)$/;

/**
 * Creates the schedule. The first backup is due when the newest complete one in the folder is older than the interval.
 * After each success, the oldest complete backups beyond `keep` and all interrupted ones are deleted. Only folders with
 * the names that this module gives them are read or deleted.
 */
export function createScheduledBackups(options: ScheduledBackupOptions): ScheduledBackups {
  const { folder, everyMs, clock, log } = options;
  const startedAt = clock.now();
  let last = completeBackups(folder).at(-1)?.at ?? null;
  const dueAt = () => (last === null ? startedAt : last + everyMs);

  /** Makes a backup. Returns when the next one is to be made. */
  const attempt = async (signal: AbortSignal): Promise<number> => {
    const at = Math.floor(clock.now() / 1000) * 1000;
    const path = join(folder, nameOf(at));
    try {
      const lost = await options.backUp(path, signal);
      last = at;
      if (lost > 0) log.warn({ path, lost }, 'backup completed without lost files');
      else log.info({ path }, 'backup completed');
      await removeOld(options, at);
      return dueAt();
    } catch (error) {
      if (!signal.aborted) log.error({ path, error: (error as Error).message }, 'backup failed');
      return clock.now() + Math.min(retryMs, everyMs);
    }
  };

  return {
    lastSuccessAt: () => last,
    overdueMs: () => Math.max(0, clock.now() - dueAt()),
    async run(signal) {
      let next = dueAt();
      while (!signal.aborted) {
        const waitMs = next - clock.now();
        if (waitMs > 0) await clock.sleep(Math.min(waitMs, maxSleepMs), signal).catch(() => {});
        else next = await attempt(signal);
      }
    },
  };
}

/** Maximum of a timer of Node is 2³¹ − 1 milliseconds. */
const maxSleepMs = 86_400_000;

const nameOf = (at: number) => `gleaner-${new Date(at).toISOString().slice(0, 19).replaceAll(':', '-')}Z`;

/** Lists the folders of backups, oldest first. */
function listBackups(folder: string): { path: string; at: number }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .flatMap((name) => {
      const [, day, hours, minutes, seconds] = namePattern.exec(name) ?? [];
      const at = Date.parse(`${day}${hours}:${minutes}:${seconds}`);
      return Number.isNaN(at) ? [] : [{ path: join(folder, name), at }];
    })
    .sort((one, other) => one.at - other.at);
}

const completeBackups = (folder: string) => listBackups(folder).filter(({ path }) => isComplete(path));

/** Deletes the complete backups beyond the ones to keep, and the interrupted ones before `at`. */
async function removeOld({ folder, keep, log }: ScheduledBackupOptions, at: number): Promise<void> {
  const complete = completeBackups(folder);
  const interrupted = listBackups(folder).filter((backup) => backup.at < at && !isComplete(backup.path));
  for (const { path } of [...complete.slice(0, -keep), ...interrupted]) {
    try {
      await deleteBackup(path);
      log.info({ path }, 'backup deleted');
    } catch (error) {
      log.warn({ path, error: (error as Error).message }, 'backup not deleted');
    }
  }
}
