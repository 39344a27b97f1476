// Installs what package-lock.json says, once: a stamp in node_modules tells that it is done. Runs on
// any Node from 20 on; everything after it runs on the Node 24 that comes as an npm package.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildConsole } from './console.mjs';
import { node, root } from './place.mjs';

export { node, root };

const stamp = join(root, 'node_modules', '.gleaner-setup');

const digest = () =>
  createHash('sha256')
    .update(readFileSync(join(root, 'package.json')))
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');

/** Whether the npm packages are those that package-lock.json says. */
export const isSetUp = (wanted = digest()) =>
  existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted && existsSync(node);

/** Installs the npm packages unless they are there already. Exits with npm's code when npm fails. */
export function setUp() {
  const wanted = digest();
  if (isSetUp(wanted)) return;
  const [major] = process.versions.node.split('.').map(Number);
  if (major < 20) {
    console.error(`Gleaner needs Node 20 or newer to set itself up; this is ${process.version}.`);
    process.exit(1);
  }
  console.error('Setting up: installing npm packages …');
  // Our own tools run on Node 24, whatever Node npm itself runs on.
  const result = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, npm_config_engine_strict: 'false' },
    shell: process.platform === 'win32',
  });
  if (result.error || result.status !== 0) {
    console.error(
      `npm ci failed${result.error ? `: ${result.error.message}` : ''}. Is the package registry reachable?`,
    );
    process.exit(result.status || 1);
  }
  if (!existsSync(node)) {
    console.error(
      'npm did not install the Node 24 package: were install scripts switched off? (npm config ignore-scripts)',
    );
    process.exit(1);
  }
  writeFileSync(stamp, wanted);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  setUp();
  buildConsole();
}
