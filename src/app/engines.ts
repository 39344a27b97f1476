import { spawn } from 'node:child_process';
import { programs } from './programs.ts';
import { untilStopped } from './stop.ts';

/** Engines for trying the distributed stack. */
export interface LocalEngines {
  mongoUri: string;
  natsUrl: string;
  /** What they are, for people. */
  about: string;
  stop(): Promise<void>;
}

/**
 * Starts a MongoDB and a NATS server for trying things out: the real ones on PATH, else the test
 * engines (test/engines/README.md). They end with this process. An Error says what is missing.
 */
export async function startEngines(): Promise<LocalEngines> {
  if (programs.engines === null)
    throw new Error('Local engines come with a checkout only: set MONGODB_URI and NATS_URL.');
  const child = spawn(process.execPath, [programs.engines], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let text = '';
  child.stdout.setEncoding('utf8');
  for await (const chunk of child.stdout) {
    text += chunk;
    if (text.includes('\n')) break;
  }
  if (!text.includes('\n')) throw new Error(`The engines did not start (exit code ${await exited}).`);
  return {
    ...(JSON.parse(text) as Omit<LocalEngines, 'stop'>),
    async stop() {
      // The end of its input is its sign to stop: it comes when we are killed, too.
      child.stdin.end();
      await exited;
    },
  };
}

/** Runs the engines until stopped, after printing how to use them. */
export async function runEngines(say: (line: string) => void): Promise<void> {
  const engines = await startEngines();
  say(`Engines: ${engines.about}`);
  say(`MONGODB_URI=${engines.mongoUri}`);
  say(`NATS_URL=${engines.natsUrl}`);
  await untilStopped();
  await engines.stop();
}
