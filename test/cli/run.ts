import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { compileCache, main } from '../support/service.ts';
import type { Place } from './place.ts';

/** Result of a run of the command line. */
export interface Ran {
  code: number | null;
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

/** Starts the command line in the folder of a place. */
export const startCli = (
  { folder, deployment }: Place,
  parameters: readonly string[],
  env: Record<string, string> = {},
): ChildProcessWithoutNullStreams =>
  spawn(process.execPath, [main, ...parameters], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      GLEANER_URL: deployment.url,
      NODE_COMPILE_CACHE: compileCache,
      ...env,
    },
  });

/** Runs the command line in the folder of a place. */
export async function runCli(
  place: Place,
  parameters: readonly string[],
  { input, env = {} }: RunOptions,
): Promise<Ran> {
  const child = startCli(place, parameters, env);
  child.stdin.end(input ?? '');
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const lines = out.trimEnd().split('\n');
  return {
    code: child.exitCode,
    out,
    err,
    get json() {
      return lines.map((line) => JSON.parse(line));
    },
  };
}
