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
import type { Errand } from './asker.ts';

const asker = fileURLToPath(new URL('asker.ts', import.meta.url));
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
  { name: 'SQLite', there: true, place: () => join(folder, 'gleaner.db') },
  {
    name: `MongoDB${missing}`,
    there: missing === '',
    place: () => ('missing' in mongo ? '' : mongo.fresh()),
  },
];

/** Runs processes that request pages of one origin concurrently. Returns their output and the total duration. */
async function ask(processes: number, store: string, settings: object, pages: number) {
  const config = { mkta: { sg: origins.address('mkta', 'sg'), ...settings } };
  const errand: Errand = { store, origins: JSON.stringify(config), pages, atOnce: 20 };
  const began = performance.now();
  const said = await Promise.all(
    Array.from({ length: processes }, async () => {
      const { stdout } = await promisify(execFile)(process.execPath, [asker, JSON.stringify(errand)]);
      return JSON.parse(stdout) as { served: number; calls: number };
    }),
  );
  return { said, seconds: (performance.now() - began) / 1000 };
}

describe.each(stores)('two processes on one $name', ({ there, place }) => {
  beforeAll(async () => {
    origins = await startOrigins({ origins: [mkta], misbehaviour: 'none', latencyMs: 20 });
  });
  afterAll(() => origins.stop());

  test.skipIf(!there)('share the concurrency limit', async () => {
    const { said } = await ask(2, place(), { concurrency: 3, requests_per_second: 5_000 }, 150);
    expect(said.map(({ served }) => served)).toEqual([150, 150]);
    expect(origins.peaks()['mkta/sg']).toBe(3);
    // Leases keep the number of store calls far below the number of pages.
    for (const { calls } of said) expect(calls).toBeLessThan(75);
  });

  test.skipIf(!there)('share the rate limit', async () => {
    const { said, seconds } = await ask(2, place(), { concurrency: 100, requests_per_second: 40 }, 40);
    expect(said.map(({ served }) => served)).toEqual([40, 40]);
    expect(seconds).toBeGreaterThan(79 / 40);
  });
});
