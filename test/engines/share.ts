import { findEngine, type MissingEngine } from './missing.ts';

/** Variable with the address of the engines that the test files of a run share (broker.ts). */
export const sharedEngines = 'GLEANER_TEST_ENGINES';

/** Returns true if this process runs test files, which share engines. */
export const isRun = (): boolean => process.env[sharedEngines] !== undefined;

/**
 * Returns an address of an engine of the run: a new database, a new NATS account, a new bucket, or
 * the browser. If the engine is unavailable, returns the reason, or throws it if CI is set.
 */
export function shareEngine(
  name: 'mongo' | 'nats' | 's3' | 'chromium',
): Promise<{ address: string } | MissingEngine> {
  return findEngine(request(name));
}

async function request(name: string): Promise<{ address: string } | MissingEngine> {
  const base = process.env[sharedEngines];
  if (base === undefined) throw new Error(`${sharedEngines} is not set: run the tests with vitest`);
  const response = await fetch(`${base}/${name}`);
  if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
  return (await response.json()) as { address: string } | MissingEngine;
}
