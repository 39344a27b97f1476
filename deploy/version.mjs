// Prepares a release: `npm run version-packages` applies the files in .changeset to the version of
// the package, to docs/changelog.md, to the chart, and to the Python package. The client gets the
// version of the service when it is built.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './place.mjs';

const changelog = join(root, 'docs/changelog.md');
// changesets keeps the changelog next to package.json.
const working = join(root, 'CHANGELOG.md');
const chart = join(root, 'deploy/helm/gleaner/Chart.yaml');

/** Runs a program, and returns its exit code. */
function run(program, ...parameters) {
  return spawnSync(program, parameters, { cwd: root, stdio: 'inherit' }).status ?? 1;
}

if (existsSync(changelog)) renameSync(changelog, working);
const applied = run('changeset', 'version');
// Also if there is nothing to apply.
if (existsSync(working)) renameSync(working, changelog);
if (applied !== 0) process.exit(applied);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
writeFileSync(
  chart,
  readFileSync(chart, 'utf8').replaceAll(
    /^(version|appVersion): .*$/gm,
    (_line, name) => `${name}: ${version}`,
  ),
);
const python = join(root, 'clients/python/pyproject.toml');
writeFileSync(
  python,
  readFileSync(python, 'utf8').replace(/^version = .*$/m, () => `version = "${version}"`),
);
process.exitCode = run('npm', 'install', '--package-lock-only', '--ignore-scripts');
