import { once } from 'node:events';
import { createServer } from 'node:net';

/*
 * Ports for processes that are started later, again, or never, so that connections are refused.
 * They are below those that systems give to outgoing connections and to servers without a port of
 * their own (32768 on Linux), which would take a free port.
 */
const first = 10_000;
const last = 31_999;
/** Test files that run concurrently have separate ranges. */
const ranges = 32;
const perRange = Math.floor((last - first + 1) / ranges);
const range = first + (Number(process.env.VITEST_POOL_ID ?? 0) % ranges) * perRange;
/** Processes that run at the same time start at different ports. */
let offset = process.pid % perRange;

/** Returns a free port, and another one at each call. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < perRange; tries++) {
    const port = range + (offset++ % perRange);
    if (await isFree(port)) return port;
  }
  throw new Error(`no port from ${range} to ${range + perRange - 1} is free`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
