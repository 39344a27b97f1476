import type { Command } from 'commander';
import { untilAborted } from '../../base/abort.ts';
import type { BrowserInstallOptions } from '../../tools/browser-install.ts';
import type { CompleteAudit } from '../../tools/store-commands.ts';
import { onRun } from '../program.ts';
import { integer } from './command.ts';
import { addDoctor } from './doctor.ts';
import { counted } from './print.ts';
import { addStorage } from './storage.ts';

/** Adds the commands that migrate and copy data: `migrate`, `backup`, `restore`, and `move`. */
function addDataCommands(program: Command): void {
  const migrate = program
    .command('migrate')
    .description(
      'Bring the data to the schema version of this program; every role also does so at its start',
    )
    .option('--wait <seconds>', 'maximum wait for a store that does not respond', '60');
  onRun(migrate, async (io, { wait }: { wait: string }) => {
    const { migrateStore } = await import('../../tools/store-commands.ts');
    const waitMs = integer('--wait', wait, 60) * 1000;
    const { engine, version } = await migrateStore(io.config(), { waitMs });
    io.say(`${engine}: schema version ${version}`);
  });
  const backup = program
    .command('backup <folder>')
    .description('Back up the embedded stack to a new folder, also while the service runs');
  onRun(backup, async (io, _options, folder: string) => {
    const { createBackup } = await import('../../backup/create.ts');
    const { files, bytes, lost } = await createBackup(io.config(), io.path(folder));
    for (const path of lost) io.say(`LOST  ${path}`);
    io.say(`Backup complete: ${counted(files, 'file')}, ${bytes.toLocaleString('en-US')} bytes.`);
    return lost.length === 0 ? 0 : 1;
  });
  const restore = program
    .command('restore <backup> <folder>')
    .description('Copy a backup to a new data folder, and verify every file');
  onRun(restore, async (io, _options, source: string, folder: string) => {
    const { restoreFrom } = await import('../../backup/restore.ts');
    const backup = /^https?:/.test(source) ? source : io.path(source);
    const { files, bytes } = await restoreFrom(backup, io.path(folder));
    io.say(`Restored ${counted(files, 'file')}, ${bytes.toLocaleString('en-US')} bytes.`);
  });
  const move = program
    .command('move <data-folder>')
    .description(
      'Copy a stopped embedded service to the engines of MONGODB_URI, NATS_URL, and GLEANER_S3_URL',
    );
  onRun(move, async (io, _options, source: string) => {
    const { moveData } = await import('../../tools/move.ts');
    const { files, bytes, lost, documents, audit } = await moveData(io.config(), io.path(source));
    for (const path of lost) io.say(`LOST  ${path}`);
    for (const problem of audit.problems) io.say(`PROBLEM  ${problem}`);
    const total = Object.values(documents).reduce((sum, count) => sum + count, 0);
    const moved = `${counted(audit.accounts, 'account')} and ${counted(audit.jobs, 'job')}`;
    const contents = `${counted(total, 'document')}, ${counted(files, 'file')}`;
    io.say(`Moved ${moved}: ${contents}, ${bytes.toLocaleString('en-US')} bytes.`);
    return lost.length + audit.problems.length === 0 ? 0 : 1;
  });
}

/**
 * Adds the commands that work on an installation directly, without its service: `doctor`,
 * `storage`, `audit`, `operator-key`, `browser install`, and those that copy data.
 */
export function addMaintenanceCommands(program: Command): void {
  addDoctor(program);
  addStorage(program);
  const audit = program
    .command('audit')
    .description('Check that balances, ledger, and jobs agree (exit code 1 if they do not)')
    .option('--files', 'also find files in the result storage that no job refers to')
    .option('--json', 'print JSON');
  onRun(audit, async (io, { json, files }: { json?: true; files?: true }) => {
    const { runAudit } = await import('../../tools/store-commands.ts');
    const result = await runAudit(io.config(), { withFiles: files === true });
    const lines = json === true ? [JSON.stringify(result)] : auditLines(result);
    for (const line of lines) io.say(line);
    return result.problems.length === 0 ? 0 : 1;
  });
  const operatorKey = program
    .command('operator-key')
    .description(
      'Create another key of the first operator directly in the store; stop the service first',
    )
    .option('--name <name>', 'name of the key', 'recovered');
  onRun(operatorKey, async (io, { name }: { name: string }) => {
    const { recoverOperatorKey } = await import('../../tools/store-commands.ts');
    io.say(await recoverOperatorKey(io.config(), name));
  });
  addBrowserCommands(program);
  addDataCommands(program);
}

/** Returns a line for each problem, and one about what was checked. */
function auditLines(audit: CompleteAudit): string[] {
  const { files, deletedJobs, problems } = audit;
  const accounts = counted(audit.accounts, 'account');
  const entries = counted(audit.entries, 'ledger entry', 'ledger entries');
  let checked = `${accounts}, ${entries}, and ${counted(audit.jobs, 'job')}`;
  if (deletedJobs > 0) checked += ` (and ${counted(deletedJobs, 'deleted job')})`;
  if (files !== undefined) checked += `, and ${counted(files, 'file')}`;
  const problemCount = problems.length === 0 ? 'no problems' : counted(problems.length, 'problem');
  return [
    ...problems.map((problem) => `PROBLEM  ${problem}`),
    `Checked ${checked}: ${problemCount} found.`,
  ];
}

function addBrowserCommands(program: Command): void {
  const browser = program
    .command('browser')
    .description('Manage the browser of marketplaces that need one');
  const install = browser
    .command('install')
    .description('Download Chrome for Testing to the data folder')
    .option(
      '--with-deps',
      'also install the system packages that it needs (Debian and Ubuntu, as root)',
    )
    .option('--from <url>', 'mirror of Chrome for Testing to download from');
  onRun(install, async (io, flags: Omit<BrowserInstallOptions, 'dataDir'>) => {
    const { installBrowser } = await import('../../tools/browser-install.ts');
    const { version, path } = await installBrowser({ ...flags, dataDir: io.config().dataDir });
    io.say(`Chrome ${version}: ${path}`);
  });
  const serve = browser
    .command('serve')
    .description('Run the browser for workers elsewhere, which find it with GLEANER_BROWSER_URL')
    .option(
      '--host <address>',
      'address to listen on; every process that reaches it controls the browser',
      '127.0.0.1',
    )
    .option('--port <number>', 'port to listen on', '9222');
  onRun(serve, async (io, { host, port }: { host: string; port: string }) => {
    io.becomeRole?.();
    const { startServedBrowser } = await import('../../app/browser-serve.ts');
    const served = await startServedBrowser(io.config(), {
      host,
      port: integer('--port', port, 9222),
    });
    io.say(`Browser: http://${host}:${served.port}`);
    await untilAborted(io.signal);
    await served.close();
  });
}
