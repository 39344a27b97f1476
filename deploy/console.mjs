// Builds the web console when its sources have changed since: a stamp beside the build holds their digest.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { node, root } from './place.mjs';

const folder = join(root, 'console');
const dist = join(folder, 'dist');
const stamp = join(dist, '.digest');
const lock = join(root, 'package-lock.json');

/** Digest of all that a build is made of: the console, the generated contract and the packages. */
export function digestOfConsole() {
  const hash = createHash('sha256').update(readFileSync(lock));
  const files = [folder, join(root, 'gen')]
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
 * Builds the console unless it is built. A build that fails is told and leaves what was there: the service does
 * without. Gives whether the console is built.
 */
export function buildConsole() {
  // An installed package comes built, without what builds it.
  if (!existsSync(lock)) return existsSync(join(dist, 'index.html'));
  const digest = digestOfConsole();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === digest) return true;
  console.error('Setting up: building the console …');
  // Beside the old one, then in its place: another process may serve it, or build it, too.
  const fresh = `${dist}-${process.pid}`;
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  const options = ['build', folder, '--outDir', fresh, '--emptyOutDir', '--logLevel', 'warn'];
  const result = spawnSync(node, [vite, ...options], {
    cwd: root,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
    // Whoever asks for the build, a test too: it is the one that is served.
    env: { ...process.env, NODE_ENV: 'production' },
  });
  if (result.error || result.status !== 0) {
    rmSync(fresh, { recursive: true, force: true });
    console.error(
      `The console could not be built${result.error ? `: ${result.error.message}` : ''}. All else works without it.`,
    );
    return false;
  }
  writeFileSync(join(fresh, '.digest'), digest);
  rmSync(dist, { recursive: true, force: true });
  try {
    renameSync(fresh, dist);
  } catch (error) {
    // Another process was quicker with the same build.
    rmSync(fresh, { recursive: true, force: true });
    if (!existsSync(stamp)) throw error;
  }
  return true;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(buildConsole() ? 0 : 1);
