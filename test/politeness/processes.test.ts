import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mkta } from '../../sandbox/mkta/index.ts';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { findMongo } from '../engines/mongo.ts';
import type { RequesterOptions } from './requester.ts';

const requester = fileURLToPath(new URL('requester.ts', import.meta.url));
const mongo = await findMongo();
const missing = 'missing' in mongo ? ` (${mongo.missing})` : '';

let folder: string;
let origins: RunningOrigins;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gleaner-politeness-'));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  if (!('missing' in mongo)) await mongo.stop();
});

const stores = [
  { name: 'SQLite', isInstalled: true, location: () => join(folder, 'gleaner.db') },
  {
    name: `MongoDB${missing}`,
    isInstalled: missing === '',
    location: () => ('missing' in mongo ? '' : mongo.fresh()),
  },
];

/**
 * Runs processes that request pages of one origin concurrently. Returns their output and the total
 * duration.
 */
async function runProcesses(processes: number, store: string, settings: object, pages: number) {
  const config = { mkta: { sg: origins.address('mkta', 'sg'), ...settings } };
  const options: RequesterOptions = {
    store,
    origins: JSON.stringify(config),
    pages,
    concurrency: 20,
  };
  const startedAt = performance.now();
  const outputs = await Promise.all(
    Array.from({ length: processes }, async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [
        requester,
        JSON.stringify(options),
      ]);
      return JSON.parse(stdout) as { served: number; calls: number };
    }),
  );
  return { outputs, seconds: (performance.now() - startedAt) / 1000 };
}

describe.each(stores)('two processes on one $name', ({ isInstalled, location }) => {
  beforeAll(async () => {
    origins = await startOrigins({ origins: [mkta], misbehaviour: 'none', latencyMs: 20 });
  });
  afterAll(() => origins.stop());

  test.skipIf(!isInstalled)('share the concurrency limit', async () => {
    const { outputs } = await runProcesses(
      2,
      location(),
      { concurrency: 3, requests_per_second: 5_000 },
      150,
    );
    expect(outputs.map(({ served }) => served)).toEqual([150, 150]);
    expect(origins.peaks()['mkta/sg']).toBe(3);
    // Without leases each page would take two calls of the store; a busy machine renews leases more
    // often.
    for (const { calls } of outputs) expect(calls).toBeLessThan(150);
  });

  test.skipIf(!isInstalled)('share the rate limit', async () => {
    const { outputs, seconds } = await runProcesses(
      2,
      location(),
      { concurrency: 100, requests_per_second: 40 },
      40,
    );
    expect(outputs.map(({ served }) => served)).toEqual([40, 40]);
    expect(seconds).toBeGreaterThan(79 / 40);
  });
});
