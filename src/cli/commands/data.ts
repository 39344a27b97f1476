import type { Command } from 'commander';
import { onRun } from '../program.ts';
import { integer } from './command.ts';
import { counted } from './print.ts';

/** Adds the commands that migrate and copy data: `migrate`, `backup`, `restore`, and `move`. */
export function addDataCommands(program: Command): void {
  const migrate = program
    .command('migrate')
    .description('Bring the data to the schema version of this program; every role also does so at its start')
    .option('--wait <seconds>', 'maximum wait for a store that does not respond', '60');
  onRun(migrate, async (io, { wait }: { wait: string }) => {
    const { migrateStore } = await import('../../app/store-commands.ts');
    const waitMs = integer('--wait', wait, 60) * 1000;
    const { engine, version } = await migrateStore(io.config(), { waitMs });
    io.say(`${engine}: schema version ${version}`);
  });
  const backup = program
    .command('backup <folder>')
    .description('Back up the embedded stack to a new folder, also while the service runs');
  onRun(backup, async (io, _options, folder: string) => {
    const { createBackup } = await import('../../app/backup/create.ts');
    const { files, bytes, lost } = await createBackup(io.config(), io.path(folder));
    for (const path of lost) io.say(`LOST  ${path}`);
    io.say(`Backup complete: ${counted(files, 'file')}, ${bytes.toLocaleString('en-US')} bytes.`);
    return lost.length === 0 ? 0 : 1;
  });
  const restore = program
    .command('restore <backup> <folder>')
    .description('Copy a backup to a new data folder, and verify every file');
  onRun(restore, async (io, _options, source: string, folder: string) => {
    const { restoreFrom } = await import('../../app/backup/restore.ts');
    const place = /^https?:/.test(source) ? source : io.path(source);
    const { files, bytes } = await restoreFrom(place, io.path(folder));
    io.say(`Restored ${counted(files, 'file')}, ${bytes.toLocaleString('en-US')} bytes.`);
  });
  const move = program
    .command('move <data-folder>')
    .description(
      'Copy a stopped embedded service to the engines of MONGODB_URI, NATS_URL, and GLEANER_S3_URL',
    );
  onRun(move, async (io, _options, source: string) => {
    const { moveData } = await import('../../app/move.ts');
    const { files, bytes, lost, documents, audit } = await moveData(io.config(), io.path(source));
    for (const path of lost) io.say(`LOST  ${path}`);
    for (const problem of audit.problems) io.say(`PROBLEM  ${problem}`);
    const total = Object.values(documents).reduce((sum, count) => sum + count, 0);
    io.say(
      `Moved ${counted(audit.accounts, 'account')} and ${counted(audit.jobs, 'job')}: ${counted(total, 'document')}, ${counted(files, 'file')}, ${bytes.toLocaleString('en-US')} bytes.`,
    );
    return lost.length + audit.problems.length === 0 ? 0 : 1;
  });
}
