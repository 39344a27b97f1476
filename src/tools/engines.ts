import { spawn } from 'node:child_process';
import { readFirstReport } from '../app/programs.ts';
import { untilAborted } from '../base/abort.ts';
import { isolatedEnvironment } from '../base/config.ts';
import { ConfigError } from '../base/config-error.ts';
import type { Environment } from '../base/secret-files.ts';

/** MongoDB and NATS for trying the distributed stack. */
export interface LocalEngines {
  mongoUri: string;
  natsUrl: string;
  /** Display name of the engines. */
  about: string;
  stop(): Promise<void>;
}

/**
 * Starts a MongoDB and a NATS server for trials: those on PATH, or else the test engines
 * (test/engines/README.md). They end with this process. Runs the program that the launcher of a
 * checkout names in ENGINES_PROGRAM. Throws a ConfigError without it.
 */
export async function startEngines(environment: Environment): Promise<LocalEngines> {
  const { ENGINES_PROGRAM: program } = environment;
  if (program === undefined)
    throw new ConfigError(
      'Local engines are available only in a checkout. Set MONGODB_URI and NATS_URL.',
    );
  const child = spawn(process.execPath, [program], {
    env: isolatedEnvironment(environment),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const report = await readFirstReport(child.stdout);
  if (report === null)
    throw new ConfigError(`The engines did not start (exit code ${await exited}).`);
  return {
    ...(report as Omit<LocalEngines, 'stop'>),
    async stop() {
      // Closing its input stops it, which also happens if this process is killed.
      child.stdin.end();
      await exited;
    },
  };
}

/** Prints how to use the engines, and runs them until stopped. */
export async function runEngines({ env, say, ...trial }: Trial): Promise<void> {
  const engines = await startEngines(env);
  say(`Engines: ${engines.about}`);
  say(`MONGODB_URI=${engines.mongoUri}`);
  say(`NATS_URL=${engines.natsUrl}`);
  await untilAborted(trial.signal);
  await engines.stop();
}

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
