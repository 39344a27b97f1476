import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram, type MissingEngine } from '../../engines/missing.ts';
import { findPythonPackages, toolFolder } from '../clients/tools.ts';

/** The installed Schemathesis tool. */
export interface Schemathesis {
  /**
   * Runs the tool with parameters and settings (TOML) in a temporary folder with the document as
   * `openapi.json`. Returns exit code and output.
   */
  run(
    parameters: readonly string[],
    settings: string,
    document: string,
    withinMs: number,
  ): Promise<{ code: number; output: string }>;
}

const version = '4.32.5';
const name = `schemathesis-${version}`;
const execute = promisify(execFile);

/** Returns true if the tool is installed. */
export const isSchemathesisInstalled = (): boolean => existsSync(toolFolder(name));

/** Returns the tool, which is installed from PyPI the first time, or why it is unavailable. */
export async function findSchemathesis(): Promise<Schemathesis | MissingEngine> {
  const found = await findPythonPackages(name, [`schemathesis==${version}`]);
  if ('missing' in found) return found;
  const python = findProgram('python3')!;
  return { run: (...call) => run(python, ...call) };
}

async function run(
  python: string,
  parameters: readonly string[],
  settings: string,
  document: string,
  withinMs: number,
) {
  // The tool writes examples and a cache to its working directory.
  const cwd = await mkdtemp(join(tmpdir(), 'gleaner-schemathesis-'));
  await writeFile(join(cwd, 'schemathesis.toml'), settings);
  await writeFile(join(cwd, 'openapi.json'), document);
  const env = { ...process.env, PYTHONPATH: toolFolder(name), NO_COLOR: '1', COLUMNS: '160' };
  const options = { cwd, env, timeout: withinMs, maxBuffer: 64 * 1024 * 1024 };
  try {
    const { stdout, stderr } = await execute(
      python,
      ['-m', 'schemathesis.cli', ...parameters],
      options,
    );
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
