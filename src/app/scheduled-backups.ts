import { join } from 'node:path';
import { isComplete } from '../backup/manifest.ts';
import {
  type BackupTarget,
  bucketTarget,
  folderTarget,
  formatBackupName,
} from '../backup/targets.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Environment } from '../base/secret-files.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Program } from './compose.ts';
import { runProgram } from './programs.ts';

export interface ScheduledBackupOptions {
  target: BackupTarget;
  /** Time between the starts of backups. */
  everyMs: number;
  /** Number of complete backups to keep. */
  keep: number;
  clock: Clock;
  log: Log;
}

/** Backups at regular times. */
export interface ScheduledBackups {
  /** Start of the newest complete backup. Null if there is none. */
  lastSuccessAt(): number | null;
  /** Time since the next backup was due; 0 if it is not due yet. */
  overdueMs(): number;
  /** Makes backups until the signal is aborted. Resolves when the last one has ended. */
  run(signal: AbortSignal): Promise<void>;
}

/** Time after which a failed backup is repeated, in milliseconds. */
const retryMs = 900_000;
/** Maximum sleep, in milliseconds: below the maximum of a timer, 2³¹ − 1. */
const maxSleepMs = 86_400_000;

/**
 * Creates the schedule. The first backup is due when the newest complete one is older than the
 * interval. After each success, the oldest complete backups beyond `keep` and all interrupted ones
 * are deleted.
 */
export function createScheduledBackups(options: ScheduledBackupOptions): ScheduledBackups {
  const { target, everyMs, clock, log } = options;
  const startedAt = clock.now();
  let last: number | null = null;
  const dueAt = () => (last === null ? startedAt : last + everyMs);

  /** Runs a step. Returns the time until the next one is due, after a failure as well. */
  const attempt = async (
    signal: AbortSignal,
    name: string,
    step: () => Promise<void>,
  ): Promise<number> => {
    try {
      await step();
      // A backup of a later time was made before the clock was set back.
      return Math.min(dueAt() - clock.now(), everyMs);
    } catch (error) {
      if (!signal.aborted)
        log.error({ backup: name, error: (error as Error).message }, 'backup failed');
      return Math.min(retryMs, everyMs);
    }
  };
  const backUp = (signal: AbortSignal) => {
    const at = Math.floor(clock.now() / 1000) * 1000;
    const name = formatBackupName(at);
    return attempt(signal, name, async () => {
      // Another process may have made backups before this one locked the data.
      const made = (await target.list()).filter(
        (backup) => backup.isComplete && backup.at <= clock.now(),
      );
      last = made.at(-1)?.at ?? null;
      if (dueAt() > clock.now()) return;
      const lost = await target.backUp(name, signal);
      last = at;
      if (lost > 0) log.warn({ backup: name, lost }, 'backup completed without lost files');
      else log.info({ backup: name }, 'backup completed');
      await deleteOld(options, at);
    });
  };

  return {
    lastSuccessAt: () => last,
    overdueMs: () => Math.max(0, clock.now() - dueAt()),
    async run(signal) {
      let next = clock.steady();
      while (!signal.aborted) {
        const waitMs = next - clock.steady();
        if (waitMs > 0) await clock.sleep(Math.min(waitMs, maxSleepMs), signal).catch(() => {});
        else next = (await backUp(signal)) + clock.steady();
      }
    },
  };
}

/** Deletes the complete backups beyond the ones to keep, and the interrupted ones before `at`. */
async function deleteOld({ target, keep, log }: ScheduledBackupOptions, at: number): Promise<void> {
  const all = await target.list();
  const complete = all.filter(({ isComplete }) => isComplete);
  const interrupted = all.filter((backup) => !backup.isComplete && backup.at < at);
  for (const { name } of [...complete.slice(0, -keep), ...interrupted]) {
    try {
      await target.delete(name);
      log.info({ backup: name }, 'backup deleted');
    } catch (error) {
      log.warn({ backup: name, error: (error as Error).message }, 'backup not deleted');
    }
  }
}

/** Folder in the data folder for a backup that is uploaded. */
const stagingFolder = 'backup-upload';
/**
 * Time between the starts of backups, in milliseconds, and number of complete ones that are kept.
 */
const intervalMs = 86_400_000;
const keptBackups = 7;
/** Priority of a backup's process (`nice`), lower than the service's. */
const backupPriority = 10;

/**
 * Starts the scheduled backups of the configuration, if any, until the signal is aborted. Returns a
 * function that waits for the end.
 */
export async function startBackups(
  { config, clock, log }: Pick<Program, 'config' | 'clock' | 'log'>,
  telemetry: Pick<Telemetry, 'observe'> | null,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const { backupTo: to } = config;
  if (to === null) return async () => {};
  const backUp = (folder: string, stopped: AbortSignal) =>
    backUpInProcess(folder, config.environment, stopped);
  const target = await openBackupTarget(to, join(config.dataDir, stagingFolder), backUp);
  const backups = createScheduledBackups({
    target,
    everyMs: intervalMs,
    keep: keptBackups,
    clock,
    log,
  });
  telemetry?.observe({
    gleaner_backup_last_success_timestamp_seconds: async () => [
      { labels: {}, value: (backups.lastSuccessAt() ?? 0) / 1000 },
    ],
    gleaner_backup_overdue_seconds: async () => [{ labels: {}, value: backups.overdueMs() / 1000 }],
  });
  const running = backups.run(signal);
  return () => running.then(() => target.close());
}

/** Opens a folder or a bucket. Throws a ConfigError if a URL is not the address of a bucket. */
async function openBackupTarget(
  to: string,
  staging: string,
  backUp: (folder: string, signal: AbortSignal) => Promise<number>,
): Promise<BackupTarget & { close(): Promise<void> }> {
  if (!/^https?:/.test(to)) return { ...folderTarget(to, backUp), close: async () => {} };
  const { openS3 } = await import('../blobs/s3/open.ts');
  const bucket = openS3({ url: to, name: 'GLEANER_BACKUP_TO' });
  return { ...bucketTarget(bucket, staging, backUp), close: () => bucket.close() };
}

/** Runs `gleaner backup` in its own process, since copying a database blocks its thread. */
async function backUpInProcess(
  folder: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<number> {
  const { stdout, stderr, code } = await runProgram(['backup', folder], {
    environment,
    priority: backupPriority,
    signal,
  });
  if (!isComplete(folder)) throw new Error(stderr.trim() || `gleaner backup exited with ${code}`);
  return stdout.split('\n').filter((line) => line.startsWith('LOST ')).length;
}
