import { embedded, restartableStack } from '../support/engines.ts';
import { type ChaosOptions, formatCommand, parseOptions, type StackName, usage } from './options.ts';
import { type ChaosReport, runChaos } from './run.ts';
import { formatTable } from './table.ts';

const say = (line: string) => console.log(line);

/** Runs one stack on engines of its own, and says what was broken with the command that repeats it. */
async function runStack(options: ChaosOptions, stack: StackName): Promise<ChaosReport> {
  say(`${stack}: ${formatCommand(options, stack)}`);
  const engines = await (stack === 'distributed' ? restartableStack : embedded).open();
  if ('missing' in engines) throw new Error(engines.missing);
  try {
    const report = await runChaos(options, stack, engines, (line) => say(`  ${line}`));
    const { accepted, refused, unanswered } = report.calls;
    say(`  calls: ${accepted} accepted, ${refused} refused, ${unanswered} without an answer`);
    for (const [code, units] of report.failures) say(`  ${units} units failed with ${code}, refunded`);
    for (const problem of report.problems.list()) say(`  BROKEN ${problem}`);
    if (report.problems.list().length > 0) say(`  repeat: ${formatCommand(options, stack)}`);
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
  say(`\n${formatTable(reports)}`);
  return reports.some(({ problems }) => problems.list().length > 0) ? 1 : 0;
}

process.exit(await main());
