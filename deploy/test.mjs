// Runs the tests of a tier: `test.mjs [--system] [vitest parameters]`. The last line of output is
// "N passed, N failed" (", N skipped"). Before it, a failed run explains itself: each failed test
// with its file, message, seed, and log, and what became of its file when that ran once more alone.
import { accessSync, constants, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runNode } from './child.mjs';
import { buildConsole } from './console.mjs';
import { installAll } from './install.mjs';
import { compileCache, isAlive, root } from './place.mjs';

const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const reporter = join(root, 'test/support/run/run-reporter.ts');
/** Maximum files that run once more alone. More failures have a common cause. */
const maxRepeated = 5;
/** Maximum failures that are printed in full, so that they fit on a screen. */
const maxPrinted = 6;
const maxLineLength = 160;

/**
 * Folder of the compiled program that tests start. It is beside dist, because the program finds the
 * console and its packages from there.
 */
const program = join(root, `.program-${process.pid}`);

/** File system in memory, which Linux provides. */
const memoryFolder = '/dev/shm';
/**
 * Free space in the memory folder from which tests use it: several times what a run stores at once.
 */
const minMemoryBytes = 4 * 2 ** 30;

/**
 * Returns the parent of the folder for the temporary files of a run. Suites that crash a simulated
 * process at each of its calls wait for the disk most of their time, and what they test does not
 * depend on it. The system tier has files of whole installations and stays on the disk.
 */
function findTemporaryFolder(run) {
  if (run.startsWith('system')) return tmpdir();
  try {
    accessSync(memoryFolder, constants.W_OK);
    const { bavail, bsize } = statfsSync(memoryFolder);
    return bavail * bsize >= minMemoryBytes ? memoryFolder : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Compiles the program for the tests, and removes those of runs that were killed. */
async function buildProgram() {
  for (const name of readdirSync(root)) {
    const [, pid] = /^\.program-(\d+)$/.exec(name) ?? [];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(root, name), { recursive: true });
  }
  process.on('exit', () => rmSync(program, { recursive: true, force: true }));
  const code = await runNode([join(root, 'deploy/build.mjs'), program]);
  if (code !== 0) process.exit(code);
}

/**
 * Runs vitest. Resolves with its exit code and the result that the reporter wrote; null if it wrote
 * none.
 */
async function runVitest(name, parameters) {
  const folder = join(root, '.cache/test-runs', name);
  // A run that ends early must not be taken for the one before it.
  rmSync(folder, { recursive: true, force: true });
  const reporters = ['--reporter=default', `--reporter=${reporter}`];
  const environment = {
    TEST_RUN_DIR: folder,
    TEST_PROGRAM: join(program, 'main.js'),
    NODE_COMPILE_CACHE: compileCache,
    KEPT_DIR: tmpdir(),
    TMPDIR: findTemporaryFolder(name),
  };
  const code = await runNode(
    [vitest, 'run', '--root', root, ...reporters, ...parameters],
    environment,
  );
  try {
    return { code, result: JSON.parse(readFileSync(join(folder, 'result.json'), 'utf8')) };
  } catch {
    return { code, result: null };
  }
}

/** Returns the distinct files of failures, up to the number that are repeated. */
function filesToRepeat(failures) {
  const files = new Set(failures.map(({ file }) => file).filter(Boolean));
  return [...files].slice(0, maxRepeated);
}

/** Runs each failed file alone, for the diagnosis only. Returns what became of it, by file. */
async function repeatAlone(tier, projects, failures) {
  const outcomes = new Map();
  for (const file of filesToRepeat(failures)) {
    console.log(`\n== ${file} once more, alone`);
    const { code, result } = await runVitest(`${tier}-alone`, [
      ...projects,
      '--maxWorkers=1',
      file,
    ]);
    const count = result?.failures.length ?? 0;
    if (code === 0) outcomes.set(file, 'passed alone');
    else
      outcomes.set(
        file,
        count > 0 ? `failed alone, too (${count} failed)` : 'ended alone without a result',
      );
  }
  return outcomes;
}

const clip = (text) =>
  text.length > maxLineLength ? `${text.slice(0, maxLineLength - 1)}…` : text;

/** Prints the failed tests, each in a few lines. */
function explain(tier, failures, outcomes) {
  console.log(`\n== ${failures.length} failed`);
  for (const { file, title, message, seed, log } of failures.slice(0, maxPrinted)) {
    console.log(clip(`${file || 'no file'} > ${title || 'the file itself'}`));
    for (const line of message.split('\n')) console.log(clip(`  ${line}`));
    const seedText = seed === '' ? '' : `seed ${seed}, `;
    console.log(`  ${seedText}log ${log}, ${outcomes.get(file) ?? 'not repeated'}`);
  }
  const others = failures.slice(maxPrinted).map(({ file }) => file);
  if (others.length > 0)
    console.log(clip(`and ${others.length} in ${[...new Set(others)].join(', ')}`));
  const command = tier === 'system' ? 'npm run test:system --' : 'npm test --';
  console.log(`repeat them: ${command} ${filesToRepeat(failures).join(' ')}`);
}

await installAll();
await buildConsole();
await buildProgram();
const parameters = process.argv.slice(2);
const isSystem = parameters[0] === '--system';
const tier = isSystem ? 'system' : 'test';
const names = isSystem ? ['browser', 'system'] : ['unit', 'engines', 'suites'];
const projects = names.map((name) => `--project=${name}`);
const { code, result } = await runVitest(tier, [
  ...projects,
  ...parameters.slice(isSystem ? 1 : 0),
]);
if (result === null) {
  console.log('The test run wrote no result.');
  console.log('0 passed, 1 failed');
  process.exit(code || 1);
}
const { passed, skipped, failures } = result;
if (failures.length > 0) explain(tier, failures, await repeatAlone(tier, projects, failures));
const failed = failures.length || (code === 0 ? 0 : 1);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(code || (failed > 0 ? 1 : 0));
