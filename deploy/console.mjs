// Builds the web console if its sources have changed. A stamp file next to the build stores their
// digest.
import { spawn } from 'node:child_process';
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
import { constants, setPriority } from 'node:os';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import { withConsolePackages } from './install.mjs';
import { fetchPackageFile, packageFiles, run } from './package-files.mjs';
import { node, root } from './place.mjs';

const brotli = promisify(brotliCompress);
const folder = join(root, 'console');
const dist = join(folder, 'dist');
const stamp = join(dist, '.digest');
/** Renderer of the interactive API reference, which is served with the console. */
const renderer = join(root, '.cache', `scalar-${packageFiles.renderer.version}.js`);

/** Folders whose files are part of the build. */
const inputs = [folder, ...['gen', 'src/contract', 'src/present'].map((path) => join(root, path))];

/** Files outside of the sources that decide about the build. */
const locks = ['package-lock.json', 'deploy/package-files.json'].map((name) => join(root, name));

/** Returns the digest of all inputs of the build. */
export function digestOfConsole() {
  const hash = createHash('sha256');
  for (const lock of locks) hash.update(readFileSync(lock));
  const files = inputs.flatMap(listFiles).filter(isInput).sort();
  for (const path of files)
    hash.update(`${relative(root, path).replaceAll(sep, '/')}\0`).update(readFileSync(path));
  return hash.digest('hex');
}

/** Returns the files below a folder, except for packages and builds. */
function listFiles(from) {
  return readdirSync(from, { withFileTypes: true }).flatMap((entry) => {
    const path = join(from, entry.name);
    if (entry.isDirectory())
      return /^(?:node_modules|dist.*)$/.test(entry.name) ? [] : listFiles(path);
    return entry.isFile() ? [path] : [];
  });
}

const isInput = (path) => !/\.test\.tsx?$/.test(path);

/** True if there is a build, of these sources or of earlier ones. */
export const hasConsole = () => existsSync(stamp);

/** True if there is a build of the sources as they are. */
export const isConsoleBuilt = () =>
  hasConsole() && readFileSync(stamp, 'utf8') === digestOfConsole();

/**
 * Builds the console if it is outdated. Reports a failed build and keeps the previous one, because
 * the service works without a console. Resolves with true if the build is up to date.
 */
export async function buildConsole() {
  if (isConsoleBuilt()) return true;
  try {
    await withConsolePackages(async () => {
      // Another process may have built it in the meantime.
      if (!isConsoleBuilt()) await replaceBuild();
    });
    return true;
  } catch (error) {
    console.error(`The console could not be built: ${error.message}\nAll else works without it.`);
    return false;
  }
}

async function replaceBuild() {
  console.error('Setting up: building the console …');
  const fresh = `${dist}-${process.pid}`;
  try {
    await build(fresh);
    rmSync(dist, { recursive: true, force: true });
    renameSync(fresh, dist);
    console.error('Setting up: the console is ready.');
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/**
 * Builds the console in a process of its own, at a low priority, and returns at once. The process
 * ends with this one.
 */
export function buildConsoleBeside() {
  const script = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 2, 2], detached: true });
  const { pid } = child;
  child.unref();
  if (pid === undefined) return;
  setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  process.on('exit', () => {
    try {
      // The group, of which npm and the bundler are members. At SIGTERM, npm would still change its
      // folder while the next command installs into it.
      if (child.exitCode === null) process.kill(-pid, 'SIGKILL');
    } catch {
      // It has just ended.
    }
  });
}

/** Builds into a separate folder, because a process may be serving the former build. */
async function build(fresh) {
  const digest = digestOfConsole();
  const vite = join(folder, 'node_modules/vite/bin/vite.js');
  await Promise.all([
    run(
      node,
      [vite, 'build', folder, '--outDir', fresh, '--emptyOutDir', '--logLevel', 'warn'],
      root,
      {
        NODE_ENV: 'production',
      },
    ),
    fetchPackageFile(packageFiles.renderer, renderer),
  ]);
  await encodeAssets(join(fresh, 'assets'));
  mkdirSync(join(fresh, 'reference'));
  copyFileSync(renderer, join(fresh, 'reference', 'scalar.js'));
  // Its license must accompany the typeface.
  const license = join(folder, 'node_modules/@fontsource-variable/inter/LICENSE');
  copyFileSync(license, join(fresh, 'inter-license.txt'));
  writeFileSync(join(fresh, '.digest'), digest);
}

/**
 * Writes the brotli encoding beside each script and style of a folder, at the best quality, which
 * is too slow for a response.
 */
async function encodeAssets(assets) {
  const names = readdirSync(assets).filter((name) => /\.(?:js|css)$/.test(name));
  await Promise.all(
    names.map(async (name) => {
      const path = join(assets, name);
      writeFileSync(`${path}.br`, await brotli(readFileSync(path)));
    }),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exit((await buildConsole()) ? 0 : 1);
