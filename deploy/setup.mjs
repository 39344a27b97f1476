// Installs the packages of package-lock.json once; a stamp in node_modules records it. Runs on Node 20 or
// later. Everything else runs on the Node 24 installed as an npm package.
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

/** True if the installed npm packages match package-lock.json. */
export const isSetUp = (wanted = digest()) =>
  existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted && existsSync(node);

/** Installs the npm packages unless they are installed. Exits with npm's exit code if npm fails. */
export function setUp() {
  const wanted = digest();
  if (isSetUp(wanted)) return;
  const [major] = process.versions.node.split('.').map(Number);
  if (major < 20) {
    console.error(`Gleaner needs Node 20 or newer to set itself up; this is ${process.version}.`);
    process.exit(1);
  }
  console.error('Setting up: installing npm packages …');
  // The project's tools run on Node 24, whatever Node npm runs on.
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
