import type { Command } from 'commander';
import type { Audit } from '../../app/audit.ts';
import { onRun } from '../program.ts';
import { addBrowserCommands } from './browser.ts';
import { addDataCommands } from './data.ts';
import { addDoctor } from './doctor.ts';
import { counted } from './print.ts';

/**
 * Adds the commands that work on an installation directly, without its service: `doctor`, `audit`,
 * `operator-key`, and those of browser.ts and data.ts.
 */
export function addMaintenanceCommands(program: Command): void {
  addDoctor(program);
  const audit = program
    .command('audit')
    .description('Check that balances, ledger, and jobs agree (exit code 1 if they do not)')
    .option('--json', 'print JSON');
  onRun(audit, async (io, { json }: { json?: true }) => {
    const { runAudit } = await import('../../app/audit.ts');
    const result = await runAudit(io.config());
    for (const line of json === true ? [JSON.stringify(result)] : auditLines(result)) io.say(line);
    return result.problems.length === 0 ? 0 : 1;
  });
  const operatorKey = program
    .command('operator-key')
    .description('Create another key of the first operator directly in the store; stop the service first')
    .option('--name <name>', 'name of the key', 'recovered');
  onRun(operatorKey, async (io, { name }: { name: string }) => {
    const { recoverOperatorKey } = await import('../../app/operator-key.ts');
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
