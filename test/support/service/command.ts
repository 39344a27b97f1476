import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { Readable, Writable } from 'node:stream';
import { runCli } from '../../../src/cli/run.ts';
import { type CommandResult, compileCache, main, root } from './service.ts';

/** Options of a command. */
export interface CommandOptions {
  /** Current folder and home of the command. Default: the root folder. */
  folder?: string;
  /** Standard input. Default: none. */
  input?: string;
}

/**
 * Runs the command line in the process of the test: `runCommand(['audit', '--json'], environment)`.
 * Sets only PATH and the variables of `environment`. No output is a terminal.
 */
export async function runCommand(
  parameters: readonly string[],
  environment: Record<string, string>,
  { folder = root, input = '' }: CommandOptions = {},
): Promise<CommandResult> {
  const [stdout, stderr] = [collect(), collect()];
  const code = await runCli(parameters, {
    stdin: Readable.from(input === '' ? [] : [Buffer.from(input)], { objectMode: false }),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: variables(folder, environment),
    folder,
    home: folder,
    signal: new AbortController().signal,
    logOutput: stderr.stream,
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

/** Starts the command line in its own process, for tests of process-level behavior. */
export const startCommand = (
  parameters: readonly string[],
  environment: Record<string, string>,
  folder = root,
): ChildProcessWithoutNullStreams =>
  spawn(process.execPath, [main, ...parameters], {
    cwd: folder,
    env: { ...variables(folder, environment), NODE_COMPILE_CACHE: compileCache },
  });

const variables = (folder: string, environment: Record<string, string>) => ({
  PATH: process.env.PATH ?? '',
  HOME: folder,
  TMPDIR: process.env.TMPDIR ?? tmpdir(),
  ...environment,
});

function collect(): { stream: Writable; text(): string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}
