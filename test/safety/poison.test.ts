import { afterAll, beforeAll, expect, test } from 'vitest';
import { direct } from '../../sandbox/direct.ts';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { mkta } from '../../sandbox/mkta/index.ts';
import { createApi, submitItems, type TestApi, watchJob } from '../support/api.ts';
import { createDeployment, type Deployment } from '../support/deployment.ts';
import { embedded } from '../support/engines.ts';
import { type Site, startSite } from './site.ts';

/*
 * A page that kills the process that reads it: on each request for it, the process is killed with SIGKILL, as the kernel
 * does when memory runs out, and restarted, as a supervisor does.
 */

const ids = plainIds(30).map(String);
const poison = ids[17]!;

let site: Site;
let deployment: Deployment;
let api: TestApi;
let kills = 0;

beforeAll(async () => {
  const marketplace = direct(mkta, 'sg');
  site = await startSite(async (request, response) => {
    if (new URL(request.url!, 'http://here').searchParams.get('item_id') === poison) {
      kills += 1;
      await deployment.api.kill();
      return deployment.api.launch();
    }
    const { status, headers, body } = await marketplace.fetch({ path: request.url! });
    response.writeHead(status, headers).end(body);
  });
  const engines = await embedded.open();
  if ('missing' in engines) throw new Error('the embedded stack has no engines');
  deployment = await createDeployment({
    stack: embedded,
    engines,
    origins: {
      config: { mkta: { sg: `http://127.0.0.1:${site.port}` } },
      address: () => '',
      counters: () => ({}),
      peaks: () => ({}),
      changeItem: () => {},
      stop: async () => {},
    },
    settings: { GLEANER_APPROVAL: 'off', GLEANER_WORKERS: '0' },
  });
  await deployment.start();
  api = createApi(deployment);
});

afterAll(async () => {
  await deployment?.stop();
  await site?.stop();
});

test('a unit that kills its process fails alone, and the other units succeed', {
  timeout: 240_000,
}, async () => {
  const user = await api.createUser(300);
  const items = ids.map((id) => ({ item_id: id, shop_id: '77' }));
  const jobId = await submitItems(api, user, 'sg', items);
  const { download } = await watchJob(api, user, jobId, 200_000);
  expect(kills).toBeGreaterThan(0);
  expect(kills).toBeLessThanOrEqual(4);
  expect(download).toMatchObject({ total_items: 30, success_count: 29, failed_count: 1 });
  const failures = await api.get(user, `/v1/jobs/${jobId}/failures`);
  expect(JSON.stringify(failures.body)).toContain('work_abandoned');
  expect(JSON.stringify(failures.body)).toContain(poison);
  expect(await api.balance(user)).toBe(10);
  expect((await deployment.audit()).problems).toEqual([]);
});
