import { join } from 'node:path';
import type { Environment } from '../../base/secret-files.ts';
import type { Telemetry } from '../../telemetry/sdk.ts';
import type { Program } from '../compose.ts';
import { runProgram } from '../run-program.ts';
import { type BackupTarget, folderTarget } from './backup-targets.ts';
import { bucketPlace } from './bucket.ts';
import { isComplete } from './manifest.ts';
import { createScheduledBackups } from './scheduled.ts';

/** Folder in the data folder for a backup that is uploaded. */
const stagingFolder = 'backup-upload';
/** Time between the starts of backups, in milliseconds, and number of complete ones that are kept. */
const intervalMs = 86_400_000;
const keptBackups = 7;
/** Priority of a backup's process (`nice`), lower than the service's. */
const backupPriority = 10;

/**
 * Starts the scheduled backups of the configuration, if any, until the signal is aborted. Returns a function
 * that waits for the end.
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
  const place = await openPlace(to, join(config.dataDir, stagingFolder), backUp);
  const backups = createScheduledBackups({ place, everyMs: intervalMs, keep: keptBackups, clock, log });
  telemetry?.observe({
    gleaner_backup_last_success_timestamp_seconds: async () => [
      { labels: {}, value: (backups.lastSuccessAt() ?? 0) / 1000 },
    ],
    gleaner_backup_overdue_seconds: async () => [{ labels: {}, value: backups.overdueMs() / 1000 }],
  });
  const running = backups.run(signal);
  return () => running.then(() => place.close());
}

/** Opens a folder or a bucket. Throws a ConfigError if a URL is not the address of a bucket. */
async function openPlace(
  to: string,
  staging: string,
  backUp: (folder: string, signal: AbortSignal) => Promise<number>,
): Promise<BackupTarget & { close(): Promise<void> }> {
  if (!/^https?:/.test(to)) return { ...folderTarget(to, backUp), close: async () => {} };
  const { openS3 } = await import('../../blobs/s3/open.ts');
  const bucket = openS3({ url: to, name: 'GLEANER_BACKUP_TO' });
  return { ...bucketPlace(bucket, staging, backUp), close: () => bucket.close() };
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
