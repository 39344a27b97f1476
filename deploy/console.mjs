// Builds the web console if its sources have changed. A stamp file next to the build stores their digest.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { node, root } from './place.mjs';

const folder = join(root, 'console');
const dist = join(folder, 'dist');
const stamp = join(dist, '.digest');
const lock = join(root, 'package-lock.json');
/** Renderer of the API reference at /docs, which is served with the console. */
const renderer = join(root, 'node_modules/@scalar/api-reference/dist/browser/standalone.js');

/** Folders whose files are part of the build. */
const inputs = [folder, ...['gen', 'src/contract', 'src/present'].map((path) => join(root, path))];

/** Returns the digest of all inputs of the build. */
export function digestOfConsole() {
  const hash = createHash('sha256').update(readFileSync(lock));
  const files = inputs
    .flatMap((from) => readdirSync(from, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !relative(folder, path).startsWith('dist'))
    .sort();
  for (const path of files)
    hash.update(`${relative(root, path).replaceAll(sep, '/')}\0`).update(readFileSync(path));
  return hash.digest('hex');
}

/**
 * Builds the console if it is outdated. Reports a failed build and keeps the previous one, because the
 * service works without a console. Returns true if a console exists.
 */
export function buildConsole() {
  const digest = digestOfConsole();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return true;
  console.error('Setting up: building the console …');
  // Built in a separate folder and then renamed: another process may be serving or building the console.
  const fresh = `${dist}-${process.pid}`;
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const options = ['build', folder, '--outDir', fresh, '--emptyOutDir', '--logLevel', 'warn'];
  const result = spawnSync(node, [vite, ...options], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
    // Read by every test that runs the build: the served folder.
    env: { ...process.env, NODE_ENV: 'production' },
  });
  if (result.error || result.status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    console.error(
      `The console could not be built${result.error ? `: ${result.error.message}` : ''}. All else works without it.`,
    );
    return false;
  }
  mkdirSync(join(fresh, 'reference'));
  copyFileSync(renderer, join(fresh, 'reference', 'scalar.js'));
  writeFileSync(join(fresh, '.digest'), digest);
  rmSync(dist, { recursive: true, force: true });
  try {
    renameSync(fresh, dist);
  } catch (error) {
    // Another process finished the same build first.
    rmSync(fresh, { recursive: true, force: true });
    if (!existsSync(stamp)) throw error;
  }
  return true;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(buildConsole() ? 0 : 1);
