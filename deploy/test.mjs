// Runs the tests of a tier: `test.mjs [--system] [vitest parameters]`. The last line of output is
// "N passed, N failed" (", N skipped").
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { runNode } from './child.mjs';
import { buildConsole } from './console.mjs';
import { installAll } from './install.mjs';
import { root } from './place.mjs';

await installAll();
await buildConsole();
const parameters = process.argv.slice(2);
const isSystem = parameters[0] === '--system';
const projects = isSystem ? ['browser', 'system'] : ['unit', 'crash', 'engines', 'services', 'suites'];
const folder = mkdtempSync(join(tmpdir(), 'gleaner-test-'));
const report = join(folder, 'report.json');
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const code = await runNode([
  vitest,
  'run',
  '--root',
  root,
  '--reporter=default',
  '--reporter=json',
  `--outputFile.json=${report}`,
  ...projects.map((project) => `--project=${project}`),
  // Suites of the system tier wait for processes and time more than they work.
  ...(isSystem ? [`--maxWorkers=${availableParallelism() + 4}`] : []),
  ...parameters.slice(isSystem ? 1 : 0),
]);
let failed = true;
try {
  const { numPassedTests, numFailedTests, numPendingTests, numTodoTests, numFailedTestSuites, testResults } =
    JSON.parse(readFileSync(report, 'utf8'));
  // A file that failed to load has no failed tests, so it counts as one.
  const broken = testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  ).length;
  const failures = numFailedTests + broken;
  const skipped = numPendingTests + numTodoTests;
  failed = failures > 0 || numFailedTestSuites > 0;
  console.log(`${numPassedTests} passed, ${failures} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
} catch (error) {
  console.log(`The test run wrote no report: ${error.message}`);
  console.log('0 passed, 1 failed');
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exit(code !== 0 ? code : failed ? 1 : 0);
