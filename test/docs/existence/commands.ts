import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { root } from '../../support/service/service.ts';
import { matchesIn, type NameCheck } from './name-check.ts';
import { codeOf } from './page.ts';

/** Scripts of package.json: `npm run <script>`, `npm test`, and `npm start`. */
export const npmScripts: NameCheck = {
  kind: 'npm script',
  find: ({ text }) => [
    ...matchesIn(text, /\bnpm run (?:(?:-s|--silent) )?([\w:-]+)/g),
    ...matchesIn(text, /\bnpm (test|start)\b/g),
  ],
  exists: (name) => Object.hasOwn(manifest.scripts, name),
};

/** Programs that `npx` runs. */
export const npxPrograms: NameCheck = {
  kind: 'program of a dependency',
  find: (page) => codeOf(page).flatMap((code) => matchesIn(code, /\bnpx (@?[\w./-]+)/g)),
  exists: (name) => installedPrograms.has(name),
};

const installedPrograms: ReadonlySet<string> = new Set([
  ...Object.keys(manifest.bin),
  ...[...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)].flatMap(
    programsOf,
  ),
]);

/** Returns the names of the programs that a package installs. */
function programsOf(packageName: string): string[] {
  const file = join(root, 'node_modules', packageName, 'package.json');
  if (!existsSync(file)) return [];
  const { bin = {} } = JSON.parse(readFileSync(file, 'utf8')) as {
    bin?: string | Record<string, string>;
  };
  return typeof bin === 'string' ? [packageName.replace(/^@[^/]+\//, '')] : Object.keys(bin);
}

const benchmarkSource = readFileSync(join(root, 'bench/main.ts'), 'utf8');

/** Benchmarks that `npm run bench` runs. */
export const benchmarks: NameCheck = {
  kind: 'benchmark',
  find: ({ text }) =>
    matchesIn(text, /\bnpm run bench --((?: [\w=-]+)+)/g)
      .flatMap((parameters) => parameters.trim().split(' '))
      .map((parameter) => parameter.replace(/=.*/, ''))
      .filter((parameter) => !/^\d+$/.test(parameter)),
  exists: (name) => benchmarkSource.includes(`\n  '${name}',\n`),
};
