import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { text as readAll, buffer as readAllBytes } from 'node:stream/consumers';
import { WriteStream } from 'node:tty';
import {
  type ClientEnvironment,
  type Config,
  clientEnvironment,
  loadConfig,
  withDotEnv,
} from '../base/config.ts';
import type { LogOutput } from '../base/log.ts';
import type { Environment } from '../base/secret-files.ts';
import { createDisplay, type Display } from './commands/print.ts';

export type CommandInput = Readable & { isTTY?: boolean };

export type CommandOutput = Writable & { isTTY?: boolean; columns?: number };

/** What a run of the command line reads and writes. */
export interface RunOptions {
  readonly stdin: CommandInput;
  stdout: CommandOutput;
  stderr: CommandOutput;
  /** Environment variables, without the variables of a `.env` file. */
  env: Environment;
  /** Current folder, an absolute path. */
  folder: string;
  /** Home folder of the user. */
  home: string;
  /**
   * Stops the command, with an Interrupted as its reason. Only commands that can stop read this
   * property.
   */
  readonly signal: AbortSignal;
  /** Receives the log of a service; by default the standard error of the process. */
  logOutput?: LogOutput | undefined;
  /**
   * Called by a role of the service: its process outlives its terminal and the readers of its
   * output.
   */
  becomeRole?(): void;
}

/** Streams and settings of a command. */
export interface Io extends RunOptions {
  /** Formats values for standard output. */
  display: Display;
  /** Writes a line to standard output. */
  say(line: string): void;
  /** Writes a line to standard error, which is never parsed by programs. */
  note(line: string): void;
  /** Writes to standard output, and waits for a slow reader. */
  write(text: string | Uint8Array): Promise<void>;
  /** Returns the absolute path of a file. */
  path(file: string): string;
  /** Reads a text file; `-` is standard input. */
  readText(file: string): Promise<string>;
  /** Reads a file; `-` is standard input. */
  readBytes(file: string): Promise<Uint8Array>;
  /** Reads the configuration of the service. Throws a ConfigError. */
  config(): Config;
  /** Reads the client settings. Throws a ConfigError. */
  client(): ClientEnvironment;
}

/** Creates the streams and settings of a command. */
export function createIo(options: RunOptions): Io {
  const { stdout, stderr, env, folder, home, logOutput } = options;
  const path = (file: string) => resolve(folder, file);
  return {
    get stdin() {
      return options.stdin;
    },
    stdout,
    stderr,
    env,
    folder,
    home,
    get signal() {
      return options.signal;
    },
    logOutput,
    ...(options.becomeRole === undefined ? {} : { becomeRole: () => options.becomeRole?.() }),
    display: createDisplay({
      isTerminal: stdout.isTTY === true,
      hasColors: hasColors(stdout, env),
    }),
    say: (line) => void stdout.write(`${line}\n`),
    note: (line) => void stderr.write(`${line}\n`),
    async write(text) {
      if (stdout.write(text)) return;
      await new Promise((resolve) => stdout.once('drain', resolve));
    },
    path,
    readText: (file) => (file === '-' ? readAll(options.stdin) : readFile(path(file), 'utf8')),
    readBytes: (file) => (file === '-' ? readAllBytes(options.stdin) : readFile(path(file))),
    config: () => loadConfig(withDotEnv(env, folder), folder),
    client: () => clientEnvironment(env, { folder, home }),
  };
}

/**
 * Returns true if a stream shows colors: a terminal, unless NO_COLOR is set, and every stream if
 * FORCE_COLOR is set.
 */
function hasColors(stream: CommandOutput, env: Environment): boolean {
  if (stream.isTTY !== true && env.FORCE_COLOR === undefined) return false;
  return WriteStream.prototype.getColorDepth(env) > 2;
}
