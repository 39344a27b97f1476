import type { Command } from 'commander';
import type { BrowserInstallOptions } from '../../app/browser-install.ts';
import type { Audit } from '../../app/store-commands.ts';
import { onRun } from '../program.ts';
import { addDataCommands } from './data.ts';
import { addDoctor } from './doctor.ts';
import { counted } from './print.ts';

/**
 * Adds the commands that work on an installation directly, without its service: `doctor`, `audit`,
 * `operator-key`, `browser install`, and those of data.ts.
 */
export function addMaintenanceCommands(program: Command): void {
  addDoctor(program);
  const audit = program
    .command('audit')
    .description('Check that balances, ledger, and jobs agree (exit code 1 if they do not)')
    .option('--json', 'print JSON');
  onRun(audit, async (io, { json }: { json?: true }) => {
    const { runAudit } = await import('../../app/store-commands.ts');
    const result = await runAudit(io.config());
    for (const line of json === true ? [JSON.stringify(result)] : auditLines(result)) io.say(line);
    return result.problems.length === 0 ? 0 : 1;
  });
  const operatorKey = program
    .command('operator-key')
    .description('Create another key of the first operator directly in the store; stop the service first')
    .option('--name <name>', 'name of the key', 'recovered');
  onRun(operatorKey, async (io, { name }: { name: string }) => {
    const { recoverOperatorKey } = await import('../../app/store-commands.ts');
    io.say(await recoverOperatorKey(io.config(), name));
  });
  addBrowserCommands(program);
  addDataCommands(program);
}

function auditLines({ accounts, entries, jobs, deletedJobs, problems }: Audit): string[] {
  const result = problems.length === 0 ? 'no problems found' : `${counted(problems.length, 'problem')} found`;
  return [
    ...problems.map((problem) => `PROBLEM  ${problem}`),
    `Checked ${counted(accounts, 'account')}, ${counted(entries, 'ledger entry', 'ledger entries')}, and ${counted(jobs, 'job')}${deletedJobs === 0 ? '' : ` (and ${counted(deletedJobs, 'deleted job')})`}: ${result}.`,
  ];
}

/** Adds `browser install`. */
function addBrowserCommands(program: Command): void {
  const install = program
    .command('browser')
    .description('Manage the browser of marketplaces that need one')
    .command('install')
    .description('Download Chrome for Testing to the data folder')
    .option('--with-deps', 'also install the system packages that it needs (Debian and Ubuntu, as root)')
    .option('--from <url>', 'mirror of Chrome for Testing to download from');
  onRun(install, async (io, flags: Omit<BrowserInstallOptions, 'dataDir'>) => {
    const { installBrowser } = await import('../../app/browser-install.ts');
    const { version, path } = await installBrowser({ ...flags, dataDir: io.config().dataDir });
    io.say(`Chrome ${version}: ${path}`);
  });
}
