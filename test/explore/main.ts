import { randomInt } from 'node:crypto';
import { maxSeed } from '../support/run/seeds.ts';
import { type CommandOutcome, runCommandLine } from './child.ts';
import { type ExploreOptions, parseOptions, usage } from './options.ts';
import { scheduleRuns, type Turn } from './schedule.ts';
import { type Search, searches } from './searches.ts';

const print = (line: string) => console.log(line);

/** Returns the searches of the chosen stacks. Names those that cannot run, and the reason. */
async function findSearches({ stacks }: ExploreOptions): Promise<Search[]> {
  const found: Search[] = [];
  for (const search of searches) {
    if (search.stack !== null && !stacks.includes(search.stack)) continue;
    const missing = await search.findMissing();
    if (missing === null) found.push(search);
    else print(`${search.name} is left out: ${missing}`);
  }
  return found;
}

function printFailure({ search, seed }: Turn<Search>, command: string, output: string): void {
  const lines = output.trimEnd().split('\n').slice(-60);
  print(lines.map((line) => `  | ${line}`).join('\n'));
  print(`FAILED ${search.name}, seed ${seed}`);
  print(`  To repeat it: ${command}`);
  print(
    `  Once it is fixed, add the failed seed to '${search.name}' in test/support/run/seeds.ts,`,
  );
  print('  with a comment that says what it found.');
}

async function run(turn: Turn<Search>, signal: AbortSignal): Promise<CommandOutcome['result']> {
  const command = turn.search.formatCommand(turn.seed);
  print(`${turn.search.name}, seed ${turn.seed}: ${command}`);
  const startedAt = performance.now();
  const { result, output } = await runCommandLine(command, signal);
  if (result === 'failed') printFailure(turn, command, output);
  else print(`  ${result}, ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  return result;
}

async function explore(options: ExploreOptions): Promise<number> {
  const endsAt = performance.now() + options.minutes * 60_000;
  const interrupted = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupted.abort());
  const signal = AbortSignal.any([
    AbortSignal.timeout(options.minutes * 60_000),
    interrupted.signal,
  ]);
  const firstSeed = options.seed ?? randomInt(1, maxSeed);
  print(`first seed ${firstSeed}, ${options.minutes} min on ${options.stacks.join(' and ')}`);
  const counts = { passed: 0, failed: 0, unfinished: 0 };
  const turns = scheduleRuns({
    searches: await findSearches(options),
    firstSeed,
    remainingSeconds: () => (endsAt - performance.now()) / 1_000,
  });
  for (const turn of turns) {
    if (signal.aborted) break;
    counts[await run(turn, signal)] += 1;
  }
  print(`\n${counts.unfinished} unfinished`);
  print(`${counts.passed} passed, ${counts.failed} failed`);
  if (counts.failed > 0) return 1;
  return interrupted.signal.aborted ? 130 : 0;
}

async function main(): Promise<number> {
  let options: ExploreOptions;
  try {
    options = parseOptions(process.argv.slice(2));
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    return 2;
  }
  return explore(options);
}

process.exit(await main());
