import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { namesOf, scrape, sumOf } from '../../test/observability/place.ts';
import { createLog } from '../base/log.ts';
import { jobTypes } from '../contract/job-types.ts';
import { createSharedCounts } from '../jobs/shared-counts.ts';
import { openStates } from '../store/job-states.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import { counters, durations } from '../telemetry/catalog.ts';
import { storeGauges } from './gauges.ts';
import { startTelemetry } from './telemetry.ts';

/** Size that a process without work may expose, in bytes. */
const maxIdleBytes = 60_000;

test('a process without work exposes every counter, duration, and gauge of jobs, in at most 60 KB', async () => {
  const store = openSqliteStore({ path: ':memory:' });
  const settings = { opsPort: 1, metricsPushMs: null } as Parameters<typeof startTelemetry>[0];
  const telemetry = (await startTelemetry(settings, 'test', createLog('silent', 'test')))!;
  const clock = { steady: () => 0 };
  const sharedCounts = createSharedCounts(store, clock);
  telemetry.observe(storeGauges({ store, sharedCounts, clock, origins: new Map() }));
  const server = createServer(telemetry.scrape);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const found = await scrape(url);
    const names = namesOf(found);
    const expected = [
      ...Object.keys(counters),
      'gleaner_jobs',
      'gleaner_batches',
      'gleaner_drift_fields',
    ];
    expect(expected.filter((name) => !names.has(name))).toEqual([]);
    expect(Object.keys(durations).filter((name) => !names.has(`${name}_bucket`))).toEqual([]);
    for (const { market, kind } of jobTypes) {
      expect(found.get(`gleaner_units_total{market="${market}",kind="${kind}",code="ok"}`)).toBe(0);
      for (const state of openStates)
        expect(found.get(`gleaner_jobs{kind="${kind}",state="${state}"}`)).toBe(0);
    }
    expect(sumOf(found, 'gleaner_origin_requests_total', { outcome: 'refused' })).toBe(0);
    expect(Buffer.byteLength(await (await fetch(url)).text())).toBeLessThan(maxIdleBytes);
  } finally {
    server.close();
    await telemetry.close();
    await store.close();
  }
});
