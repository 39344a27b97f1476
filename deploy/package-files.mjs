// Single files of npm packages that would otherwise bring megabytes of headers, source maps, and
// other packages. deploy/package-files.json pins their versions and digests, as package-lock.json
// does for packages.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { root } from './place.mjs';

/** Contents of deploy/package-files.json. */
export const packageFiles = JSON.parse(
  readFileSync(join(root, 'deploy/package-files.json'), 'utf8'),
);

/**
 * Writes a file of a package to `target` unless that exists. npm downloads the package, from its
 * cache if possible. Throws an Error if that fails, or if the package has another digest.
 */
export async function fetchPackageFile({ package: name, version, file, integrity }, target) {
  if (existsSync(target)) return;
  const folder = mkdtempSync(join(tmpdir(), 'gleaner-package-'));
  try {
    const options = [
      '--pack-destination',
      folder,
      '--json',
      '--prefer-offline',
      '--loglevel=error',
    ];
    const [{ filename }] = JSON.parse(await run('npm', ['pack', `${name}@${version}`, ...options]));
    const archive = join(folder, filename);
    const digest = await digestOf(archive);
    if (digest !== integrity)
      throw new Error(`${name}@${version} has digest ${digest}, not ${integrity}`);
    await run('tar', ['-xzf', archive, '-C', folder, `package/${file}`]);
    mkdirSync(dirname(target), { recursive: true });
    // Renamed within a folder, so that no process sees half of the file.
    const unfinished = `${target}-${process.pid}`;
    copyFileSync(join(folder, 'package', file), unfinished);
    renameSync(unfinished, target);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function digestOf(path) {
  const hash = createHash('sha512');
  await pipeline(createReadStream(path), hash);
  return `sha512-${hash.digest('base64')}`;
}

/**
 * Runs a program. Resolves with its output. Rejects with the end of its error output if it fails.
 */
export function run(program, parameters, folder = root, environment = {}) {
  const child = spawn(program, parameters, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    // The project's tools run on Node 24, whatever Node npm runs on.
    env: { ...process.env, npm_config_engine_strict: 'false', ...environment },
    shell: process.platform === 'win32',
  });
  const output = collect(child.stdout);
  const errors = collect(child.stderr);
  return new Promise((resolve, reject) => {
    child.on('error', (cause) => reject(new Error(`${program}: ${cause.message}`, { cause })));
    child.on('close', (code) => {
      if (code === 0) resolve(output());
      else
        reject(new Error(`${program} ${parameters[0]} failed: ${errors().trim().slice(-2_000)}`));
    });
  });
}

/** Returns a function that returns what a stream has written so far. */
function collect(stream) {
  const chunks = [];
  stream.on('data', (chunk) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}
