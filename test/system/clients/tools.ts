import { execFile } from 'node:child_process';
import { access, cp, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram, type MissingEngine } from '../../engines/missing.ts';
import { root } from '../../support/service/service.ts';

/** Result of a program that ended with the exit code 0. */
export interface Output {
  stdout: string;
  stderr: string;
}

const execute = promisify(execFile);
const pythonVersion = '0.29.1';

/** Returns the folder of a tool, which the checkouts of a user share. `name`: "checkov-3.3.30". */
export const toolFolder = (name: string): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'gleaner/tools', name);

/** Installed generator: a folder, to be passed to the runner of its language. */
export interface Generator {
  folder: string;
}

/**
 * Returns the generator of Python clients, installed from PyPI the first time, or why it is
 * unavailable.
 */
export function findPythonGenerator(): Promise<Generator | MissingEngine> {
  return findPythonPackages(`openapi-python-client-${pythonVersion}`, [
    `openapi-python-client==${pythonVersion}`,
  ]);
}

/**
 * Returns a folder with Python packages, installed from PyPI the first time, or why they are
 * unavailable.
 */
export function findPythonPackages(
  name: string,
  packages: readonly string[],
): Promise<Generator | MissingEngine> {
  const python = findProgram('python3');
  if (python === null) return missing('python3 with pip is missing: install python3-pip');
  return install(name, async (target) => {
    const options = ['--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '15'];
    await execute(python, ['-m', 'pip', 'install', ...options, '--target', target, ...packages]);
  });
}

/**
 * Returns the generator of TypeScript clients, installed from npm the first time, or why it is
 * unavailable.
 */
export function findTypescriptGenerator(): Promise<Generator | MissingEngine> {
  return findNpmPackages('openapi-ts-0.95.0', 'test/system/clients/typescript');
}

/**
 * Returns a folder with the npm packages of a lock file, installed the first time, or why they are
 * unavailable.
 */
export function findNpmPackages(name: string, source: string): Promise<Generator | MissingEngine> {
  return install(name, async (folder) => {
    for (const file of ['package.json', 'package-lock.json'])
      await cp(join(root, source, file), join(folder, file));
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await execute('npm', ['ci', ...options], { cwd: folder });
  });
}

/**
 * Returns the folder of the Go module, whose tools are the generators, or why Go is unavailable.
 */
export function findGo(): Promise<Generator | MissingEngine> {
  const folder = join(root, 'test/system/clients/go');
  return findProgram('go') === null
    ? missing('Go is missing: install golang')
    : Promise.resolve({ folder });
}

/** Runs a program in a folder. Throws an Error with its output for any other exit code than 0. */
export async function run(
  program: string,
  parameters: readonly string[],
  { cwd, env = {} }: { cwd: string; env?: Record<string, string> },
): Promise<Output> {
  try {
    const options = {
      cwd,
      env: { ...process.env, ...env },
      timeout: 240_000,
      maxBuffer: 16 * 1024 * 1024,
    };
    return await execute(program, parameters, options);
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & Partial<Output>;
    throw new Error(`${message.slice(0, 500)}\n${stdout}${stderr}`.slice(0, 8_000), {
      cause: error,
    });
  }
}

/**
 * Installs a tool into a temporary folder and renames it, so that concurrent runs never use a
 * partial installation.
 */
export async function install(
  name: string,
  fill: (folder: string) => Promise<void>,
): Promise<Generator | MissingEngine> {
  const folder = toolFolder(name);
  const isInstalled = () =>
    access(folder).then(
      () => true,
      () => false,
    );
  if (await isInstalled()) return { folder };
  await mkdir(dirname(folder), { recursive: true });
  const beside = await mkdtemp(`${folder}.`);
  try {
    await fill(beside);
    await rename(beside, folder);
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    if (!(await isInstalled()))
      return { missing: `${folder} can't be installed: ${stderr || message}` };
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
  return { folder };
}

const missing = (text: string): Promise<MissingEngine> => Promise.resolve({ missing: text });
