import { clusterStack } from '../support/engines/cluster-engines.ts';
import { embedded, restartableStack, type Stack } from '../support/engines/engines.ts';
import {
  type ChaosOptions,
  formatCommand,
  parseOptions,
  type StackName,
  usage,
} from './options.ts';
import { type ChaosReport, runChaos } from './run.ts';
import { formatTable } from './table.ts';

const stacks: Record<StackName, Stack> = {
  embedded,
  distributed: restartableStack,
  cluster: clusterStack,
};

const print = (line: string) => console.log(line);

/**
 * Runs one stack on its own engines. Prints broken invariants with the command that reproduces
 * them.
 */
async function runStack(options: ChaosOptions, stack: StackName): Promise<ChaosReport> {
  print(`${stack}: ${formatCommand(options, stack)}`);
  const engines = await stacks[stack].open();
  if ('missing' in engines) throw new Error(engines.missing);
  try {
    const report = await runChaos(options, stack, engines, (line) => print(`  ${line}`));
    const { accepted, refused, unanswered } = report.calls;
    print(`  calls: ${accepted} accepted, ${refused} refused, ${unanswered} without a reply`);
    for (const [code, units] of report.failures)
      print(`  ${units} units failed with ${code}, refunded`);
    for (const problem of report.problems.list()) print(`  BROKEN ${problem}`);
    if (report.problems.list().length > 0) print(`  reproduce: ${formatCommand(options, stack)}`);
    return report;
  } finally {
    await engines.stop();
  }
}

async function main(): Promise<number> {
  let options: ChaosOptions;
  try {
    options = parseOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    return 2;
  }
  const reports: ChaosReport[] = [];
  for (const stack of options.stacks) reports.push(await runStack(options, stack));
  print(`\n${formatTable(reports)}`);
  const broken = reports.filter(({ problems }) => problems.list().length > 0).length;
  print(`${reports.length - broken} passed, ${broken} failed`);
  return broken > 0 ? 1 : 0;
}

process.exit(await main());
