import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { runCommand, startCommand } from '../support/service/command.ts';
import type { Place } from './place.ts';

/** Result of a run of the command line. */
export interface Ran {
  code: number;
  out: string;
  err: string;
  /** Standard output as JSON Lines. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  json: any[];
}

interface RunOptions {
  input?: string;
  env?: Record<string, string>;
}

/** Starts the command line as a process in the folder of a place. */
export const startCli = (
  { folder, deployment }: Place,
  parameters: readonly string[],
  env: Record<string, string> = {},
): ChildProcessWithoutNullStreams =>
  startCommand(parameters, { GLEANER_URL: deployment.url, ...env }, folder);

/** Runs the command line in the folder of a place. */
export async function runCli(
  { folder, deployment }: Place,
  parameters: readonly string[],
  { input = '', env = {} }: RunOptions,
): Promise<Ran> {
  const environment = { GLEANER_URL: deployment.url, ...env };
  const { code, stdout, stderr } = await runCommand(parameters, environment, { folder, input });
  return {
    code,
    out: stdout,
    err: stderr,
    get json() {
      return stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
    },
  };
}
