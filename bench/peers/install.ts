import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folder of the peers' programs and lock files. */
export const peersFolder = import.meta.dirname;

const cache = join(peersFolder, '.cache');

/** Python of the environment with Scrapy. */
export const python = join(cache, 'venv/bin/python');

/** Installs the npm packages of the peers as locked, unless they are installed. */
export function installPackages(): void {
  // `npm ci` insists on entries for every platform, which some registries do not have.
  const options = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  once('package-lock.json', () => run('npm', ['install', ...options]));
}

/**
 * Installs Scrapy and its dependencies into a virtual environment. Throws an Error without Python.
 */
export function installScrapy(): void {
  once('requirements.txt', () => {
    run('python3', ['-m', 'venv', join(cache, 'venv')]);
    run(python, ['-m', 'pip', 'install', '--quiet', '--requirement', 'requirements.txt']);
  });
}

/** Returns the version of an npm package of the peers. */
export function packageVersion(name: string): string {
  const manifest = readFileSync(join(peersFolder, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

/** Installs what a lock file lists, unless the same list is installed. */
function once(lockFile: string, install: () => void): void {
  const contents = readFileSync(join(peersFolder, lockFile), 'utf8');
  const installed = join(cache, lockFile);
  if (existsSync(installed) && readFileSync(installed, 'utf8') === contents) return;
  install();
  mkdirSync(cache, { recursive: true });
  writeFileSync(installed, contents);
}

function run(command: string, parameters: readonly string[]): void {
  execFileSync(command, parameters, { cwd: peersFolder, stdio: ['ignore', 'ignore', 'inherit'] });
}
