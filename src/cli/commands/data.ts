import type { Command } from 'commander';
import { loadConfig } from '../../base/config.ts';
import { counted } from './print.ts';

/** Adds the commands that migrate and copy data: `migrate`, `backup`, `restore`, and `move`. */
export function addDataCommands(program: Command, say: (line: string) => void): void {
  program
    .command('migrate')
    .description('Bring the data to the schema version of this program; every role also does so at its start')
    .option('--wait <seconds>', 'maximum wait for a store that does not respond', '60')
    .action(async ({ wait }: { wait: string }) => {
      const [{ migrateStore }, { integer }] = await Promise.all([
        import('../../app/migrate.ts'),
        import('./command.ts'),
      ]);
      const waitMs = integer('--wait', wait, 60) * 1000;
      const { engine, version } = await migrateStore(loadConfig(), { waitMs });
      say(`${engine}: schema version ${version}`);
    });
  program
    .command('backup <folder>')
    .description('Back up the embedded stack to a new folder, also while the service runs')
    .action(async (folder: string) => {
      const { createBackup } = await import('../../app/backup/create.ts');
      const { files, bytes, lost } = await createBackup(loadConfig(), folder);
      for (const path of lost) say(`LOST  ${path}`);
      say(`Backup complete: ${counted(files, 'file')}, ${bytes.toLocaleString('en-US')} bytes.`);
      process.exitCode = lost.length === 0 ? 0 : 1;
    });
  program
    .command('restore <backup> <folder>')
    .description('Copy a backup to a new data folder, and verify every file')
    .action(async (backup: string, folder: string) => {
      const { restoreFrom } = await import('../../app/backup/restore-from.ts');
      const { files, bytes } = await restoreFrom(backup, folder);
      say(`Restored ${counted(files, 'file')}, ${bytes.toLocaleString('en-US')} bytes.`);
    });
  program
    .command('move <data-folder>')
    .description(
      'Copy a stopped embedded service to the engines of MONGODB_URI, NATS_URL, and GLEANER_S3_URL',
    )
    .action(async (source: string) => {
      const { moveData } = await import('../../app/move/move.ts');
      const { files, bytes, lost, documents, audit } = await moveData(loadConfig(), source);
      for (const path of lost) say(`LOST  ${path}`);
      for (const problem of audit.problems) say(`PROBLEM  ${problem}`);
      const total = Object.values(documents).reduce((sum, count) => sum + count, 0);
      say(
        `Moved ${counted(audit.accounts, 'account')} and ${counted(audit.jobs, 'job')}: ${counted(total, 'document')}, ${counted(files, 'file')}, ${bytes.toLocaleString('en-US')} bytes.`,
      );
      process.exitCode = lost.length + audit.problems.length === 0 ? 0 : 1;
    });
}
