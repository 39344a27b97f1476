import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { programs, readFirstReport } from '../../app/programs.ts';
import { isolatedEnvironment } from '../../base/config.ts';
import type { Environment } from '../../base/secret-files.ts';

export interface DemoProcess {
  stop(): Promise<void>;
}

/** Returns a port that is currently free. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** Starts a role of the program. `log` is the file descriptor for its output. */
export function startRole(role: string, environment: Environment, log: number): DemoProcess {
  const child = spawn(process.execPath, [programs.main, role], {
    env: environment,
    stdio: ['ignore', log, log, 'ipc'],
  });
  return stopper(child);
}

/** Starts the fake marketplaces, and returns the content of their origins file. */
export async function startOrigins(
  environment: Environment,
): Promise<DemoProcess & { config: Record<string, unknown> }> {
  const child = spawn(process.execPath, [programs.sandbox, '--latency-ms', '20'], {
    env: isolatedEnvironment(environment),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const config = await readFirstReport(child.stdout);
  if (config === null) throw new Error('The fake marketplaces did not start.');
  return { config: config as Record<string, unknown>, ...stopper(child) };
}

function stopper(child: ChildProcess): DemoProcess {
  const exited = once(child, 'exit');
  return {
    async stop() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await exited;
    },
  };
}

/** Resolves when the service is ready. Throws an Error after `seconds`. */
export async function untilReady(url: string, seconds: number): Promise<void> {
  let last = 'no response';
  for (let tries = 0; tries < seconds * 10; tries++) {
    try {
      const response = await fetch(`${url}/ready`);
      if (response.ok) return;
      last = await response.text();
    } catch {
      // Not listening yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`The service at ${url} was not ready after ${seconds} s: ${last}`);
}
