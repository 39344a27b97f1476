import { parseArgs } from 'node:util';
import { openMongoStore } from '../../src/store/mongo/open.ts';
import { type FoundMongo, findMongo } from '../engines/mongo.ts';
import { brokenStores, revealDefect } from './broken-stores.ts';
import { simulate } from './run.ts';
import { type RarePath, rarePaths } from './world.ts';

const usage = `Usage: npm run simulate -- [--seed S | --seeds N [--from S]] [--jobs N] [--mongo] [--trace]
       npm run simulate -- --defects [--seeds N]

Runs the core with simulated faults and checks its invariants at the end. Exits with 1 if one is broken.

  --seed S   run this seed
  --seeds N  run N seeds (default 200)
  --from S   first seed of --seeds (default 1)
  --jobs N   jobs that clients submit in each run (default 6)
  --mongo    run on MongoDB (MONGODB_TEST_URI or a test engine) instead of SQLite in memory
  --trace    print every event
  --defects  print a seed that reveals each deliberate defect of the store (default: of 60 seeds)
`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    from: { type: 'string' },
    jobs: { type: 'string' },
    mongo: { type: 'boolean', default: false },
    trace: { type: 'boolean', default: false },
    defects: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

function parseCount(name: 'seed' | 'seeds' | 'from' | 'jobs', fallback: number): number {
  const text = values[name];
  if (text === undefined) return fallback;
  if (/^[0-9]{1,9}$/.test(text)) return Number(text);
  console.error(`--${name}: "${text}" is not a whole number\n\n${usage}`);
  process.exit(2);
}

/**
 * Prints the first seed that reveals each defect. Returns 1 if none of the seeds reveals one of
 * them.
 */
async function findSeeds(count: number): Promise<number> {
  let missed = 0;
  for (const broken of brokenStores) {
    let seed = 1;
    while (seed <= count && (await revealDefect(broken, seed)).length === 0) seed += 1;
    const found = seed <= count ? `seed ${seed}` : `none of ${count} seeds`;
    if (seed > count) missed += 1;
    console.log(`a store that ${broken.defect}: ${found}, stored ${broken.seed}`);
  }
  return missed > 0 ? 1 : 0;
}

async function main(): Promise<number> {
  if (values.help) {
    console.log(usage);
    return 0;
  }
  if (values.defects) return findSeeds(parseCount('seeds', 60));
  const first = parseCount('seed', parseCount('from', 1));
  const count = values.seed === undefined ? parseCount('seeds', 200) : 1;
  const jobs = parseCount('jobs', 6);
  let mongo: FoundMongo | null = null;
  if (values.mongo) {
    const found = await findMongo();
    if ('missing' in found) {
      console.error(found.missing);
      return 2;
    }
    mongo = found;
  }
  const failed: number[] = [];
  const seen = new Map<RarePath, number>();
  const startedAt = performance.now();
  for (let seed = first; seed < first + count; seed++) {
    const report = await simulate({
      seed,
      jobs,
      ...(mongo ? { store: openMongoStore({ uri: mongo.fresh() }) } : {}),
      ...(values.trace ? { print: (line) => console.log(line) } : {}),
    });
    for (const path of report.seen) seen.set(path, (seen.get(path) ?? 0) + 1);
    if (values.seed !== undefined) {
      const { steps, settledMs, traceHash } = report;
      console.log(
        `seed ${seed}: ${steps} steps, settled ${settledMs / 1000} s after the faults, trace ${traceHash}`,
      );
    }
    if (report.problems.length === 0) continue;
    failed.push(seed);
    const options = `${jobs === 6 ? '' : ` --jobs ${jobs}`}${values.mongo ? ' --mongo' : ''}`;
    console.log(`seed ${seed}: npm run simulate -- --seed ${seed}${options}`);
    for (const problem of report.problems) console.log(`  ${problem}`);
  }
  await mongo?.stop();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${count} seeds, ${failed.length} failed, ${seconds} s`);
  for (const path of rarePaths) console.log(`  ${path}: ${seen.get(path) ?? 0} seeds`);
  return failed.length > 0 ? 1 : 0;
}

process.exitCode = await main();
