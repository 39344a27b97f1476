import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram, type MissingEngine } from '../../engines/missing.ts';
import { root } from '../../support/service.ts';

/** The installed Schemathesis tool. */
export interface Schemathesis {
  /** Runs the tool with parameters and settings (TOML) in a temporary folder. Returns exit code and output. */
  run(
    parameters: readonly string[],
    settings: string,
    withinMs: number,
  ): Promise<{ code: number; output: string }>;
}

const version = '4.32.5';
const folder = join(root, '.cache', `schemathesis-${version}`);
const installMs = 180_000;
const execute = promisify(execFile);

/** Returns the tool, which is installed from PyPI into `.cache` the first time, or why it is unavailable. */
export async function findSchemathesis(): Promise<Schemathesis | MissingEngine> {
  const python = findProgram('python3');
  if (python === null) return { missing: 'schemathesis needs python3 with pip: install python3-pip' };
  const there = () =>
    access(join(folder, 'schemathesis')).then(
      () => true,
      () => false,
    );
  try {
    if (!(await there())) await install(python);
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    if (!(await there()))
      return { missing: `schemathesis ${version} can't be installed: ${stderr || message}` };
  }
  return { run: (parameters, settings, withinMs) => run(python, parameters, settings, withinMs) };
}

/** Installs to a temporary folder and renames it, so that concurrent runs never use a partial installation. */
async function install(python: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const beside = await mkdtemp(`${folder}.`);
  const options = ['--quiet', '--disable-pip-version-check', '--retries', '1', '--timeout', '15'];
  try {
    const install = ['-m', 'pip', 'install', ...options, '--target', beside, `schemathesis==${version}`];
    await execute(python, install, { timeout: installMs });
    await rename(beside, folder);
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

async function run(python: string, parameters: readonly string[], settings: string, withinMs: number) {
  // The tool writes examples and a cache to its working directory.
  const cwd = await mkdtemp(join(tmpdir(), 'gleaner-schemathesis-'));
  await writeFile(join(cwd, 'schemathesis.toml'), settings);
  const env = { ...process.env, PYTHONPATH: folder, NO_COLOR: '1', COLUMNS: '160' };
  const options = { cwd, env, timeout: withinMs, maxBuffer: 64 * 1024 * 1024 };
  try {
    const { stdout, stderr } = await execute(python, ['-m', 'schemathesis.cli', ...parameters], options);
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const {
      code,
      stdout = '',
      stderr = '',
      message,
    } = error as Error & Record<'stdout' | 'stderr', string> & { code?: unknown };
    return {
      code: typeof code === 'number' ? code : -1,
      output: `${stdout}${stderr}\n${message.slice(0, 200)}`,
    };
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}
