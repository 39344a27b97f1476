import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { freePort } from '../support/servers/ports.ts';
import { createServiceProcess, type ServiceProcess } from '../support/service/service.ts';
import { until } from '../support/time/until.ts';
import { scrape, sumOf } from './place.ts';

const folder = mkdtempSync(join(tmpdir(), 'gleaner-gateway-'));
let gateway: ServiceProcess | undefined;
afterEach(async () => {
  await gateway?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a gateway has an operations port, and is not ready without its core', async () => {
  const [opsPort, corePort] = [await freePort(), await freePort()];
  const environment = {
    GLEANER_DATA_DIR: join(folder, 'data'),
    GLEANER_HTTP_PORT: '0',
    GLEANER_HOST: '127.0.0.1',
    GLEANER_CORE_URL: `http://127.0.0.1:${corePort}`,
    GLEANER_OPS_PORT: String(opsPort),
  };
  gateway = createServiceProcess({ role: 'gateway', environment });
  gateway.launch();
  const url = `http://127.0.0.1:${opsPort}`;
  const health = await until('the port is open', async () => fetch(`${url}/health`), {
    withinMs: 30_000,
  });
  expect(health.status).toBe(200);
  const log = gateway.log;
  await until(
    'the gateway has started',
    async () => log().includes('"msg":"started"') || undefined,
    {
      withinMs: 30_000,
    },
  );
  const metrics = await scrape(url);
  expect(sumOf(metrics, 'gleaner_build_info', { role: 'gateway' })).toBe(1);
  const ready = await fetch(`${url}/ready`);
  expect([ready.status, await ready.json()]).toEqual([
    503,
    { status: 'unavailable', detail: 'The core is unavailable.' },
  ]);
});
