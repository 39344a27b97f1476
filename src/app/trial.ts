import type { Environment } from '../base/secret-files.ts';

/** Output and environment of a command that starts services for trials. */
export interface Trial {
  /** Standard error, which shows progress bars if it is a terminal. */
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
  /** Environment variables, except the ones from a `.env` file. */
  env: Environment;
  /** Current folder. */
  folder: string;
  /** Stops the command. */
  readonly signal: AbortSignal;
  /** Writes a line to standard output. */
  say(line: string): void;
}
