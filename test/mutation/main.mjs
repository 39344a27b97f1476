/**
 * Runs Stryker. With `--files`, on a random sample of the mutants of these files and with the tests
 * beside them, so that a result takes minutes. Otherwise passes its arguments to Stryker.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { Instrumenter } from '@stryker-mutator/instrumenter';
import { run } from '../../deploy/child.mjs';
import { strykerPlugins } from './ignored.mjs';

const usage = `Usage: npm run mutate -- [options of Stryker]
       npm run mutate -- --files FILES [--sample N] [--seed TEXT] [--tests PATTERNS]

  --files FILES     mutate these source files, separated by commas
  --sample N        mutants of each file (default 30)
  --seed TEXT       choose other mutants (default 1)
  --tests PATTERNS  test files to run, separated by commas (default: those in the folders of the files)
`;

const config = 'test/mutation/stryker.config.json';
const noop = () => {};
const logger = { debug: noop, info: noop, warn: noop, isDebugEnabled: () => false };

/**
 * Returns the mutants of a source file that are not ignored, in an order determined by the seed.
 */
async function shuffledMutants(name, seed) {
  const files = [{ name, mutate: true, content: readFileSync(name, 'utf8') }];
  const ignorers = strykerPlugins.map(({ value }) => value);
  const { mutants } = await new Instrumenter(logger).instrument(files, {
    plugins: null,
    excludedMutations: [],
    ignorers,
  });
  const rank = ({ location, replacement }) =>
    hash('sha256', JSON.stringify([seed, name, location, replacement]));
  return mutants
    .filter(({ status }) => status !== 'Ignored')
    .map((mutant) => ({ ...mutant, rank: rank(mutant) }))
    .sort((one, other) => (one.rank < other.rank ? -1 : 1));
}

const isBefore = (one, other) =>
  one.line < other.line || (one.line === other.line && one.column <= other.column);
const contains = (outer, inner) =>
  isBefore(outer.start, inner.start) && isBefore(inner.end, outer.end);

/**
 * Returns ranges of a source file that contain about `size` mutants. Stryker mutates everything
 * within a range, so a mutant is omitted if its range would exceed the sample.
 */
async function sampleRanges(name, size, seed) {
  const mutants = await shuffledMutants(name, seed);
  const chosen = new Set();
  const ranges = [];
  for (const mutant of mutants) {
    const added = mutants.filter(
      (other) => !chosen.has(other) && contains(mutant.location, other.location),
    );
    if (chosen.has(mutant) || chosen.size + added.length > size) continue;
    for (const other of added) chosen.add(other);
    const { start, end } = mutant.location;
    ranges.push(`${name}:${start.line + 1}:${start.column}-${end.line + 1}:${end.column}`);
  }
  console.log(`${name}: ${chosen.size} of ${mutants.length} mutants`);
  return ranges;
}

async function sampleArguments({ files, sample, seed, tests }) {
  const names = files.split(',');
  const ranges = [];
  for (const name of names) ranges.push(...(await sampleRanges(name, Number(sample), seed)));
  const testFiles =
    tests ?? [...new Set(names.map((name) => `${dirname(name)}/*.test.ts`))].join(',');
  // Code that runs at import requires every test for each mutant.
  const options = ['--ignoreStatic', '--timeoutMS', '15000'];
  return ['--mutate', ranges.join(','), '--testFiles', testFiles, ...options];
}

async function main(args) {
  if (!args.some((arg) => arg === '--help' || /^--(?:files|sample|seed|tests)(?:=|$)/.test(arg)))
    return run('stryker', ['run', config, ...args]);
  const { values } = parseArgs({
    args,
    options: {
      files: { type: 'string' },
      sample: { type: 'string', default: '30' },
      seed: { type: 'string', default: '1' },
      tests: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help || !values.files || !(Number(values.sample) > 0)) {
    console.log(usage);
    return values.help ? 0 : 2;
  }
  return run('stryker', ['run', config, ...(await sampleArguments(values))]);
}

process.exit(await main(process.argv.slice(2)));
