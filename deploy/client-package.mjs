// Builds the package @gleaner/client in dist/client: the compiled client with its types, and a
// package.json with the version of the service and only the packages that the compiled files
// import.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { node, root } from './place.mjs';

const folder = resolve(root, process.argv[2] ?? 'dist/client');
const service = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const compiler = join(root, 'node_modules/typescript/bin/tsc');
if (!existsSync(compiler)) {
  console.error('The compiler is not installed: run npm run setup -- --all first.');
  process.exit(1);
}
rmSync(folder, { recursive: true, force: true });
const options = ['-p', join(root, 'clients/typescript/tsconfig.build.json'), '--outDir', folder];
const { status } = spawnSync(node, [compiler, ...options], { cwd: root, stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

/** Names of the packages that the compiled files import. */
const packages = new Set(
  readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.js'))
    .flatMap((name) => [
      ...readFileSync(join(folder, name), 'utf8').matchAll(/ from ['"]([^'".][^'"]*)['"]/g),
    ])
    .map(([, name]) => name)
    .filter((name) => !name.startsWith('node:'))
    .map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/')),
);

const entry = './clients/typescript/index';
const manifest = {
  name: '@gleaner/client',
  version: service.version,
  description: 'Typed client of Gleaner, for Node and browsers',
  license: service.license,
  repository: service.repository,
  type: 'module',
  engines: { node: '>=22' },
  sideEffects: false,
  exports: {
    '.': { types: `${entry}.d.ts`, default: `${entry}.js` },
    './package.json': './package.json',
  },
  browser: {
    './clients/typescript/download.js': './clients/typescript/download-unavailable.js',
  },
  dependencies: Object.fromEntries(
    [...packages].sort().map((name) => [name, `^${service.dependencies[name]}`]),
  ),
  publishConfig: { access: 'public' },
};
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
copyFileSync(join(root, 'clients/typescript/README.md'), join(folder, 'README.md'));
copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
