import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningOrigins, startOrigins } from '../../sandbox/server.ts';
import { sites as origin } from '../../sandbox/sites/index.ts';
import { fakeProduct } from '../../sandbox/sites/products.ts';
import { openStacks, stacks } from '../support/engines/engines.ts';
import { createApi, sendJson, type TestApi, type TestUser } from '../support/service/api.ts';
import { createDeployment, type Deployment } from '../support/service/deployment.ts';
import { until } from '../support/time/until.ts';

describe.each(await openStacks(stacks))('declared sites, $title', ({ distributed, engines }) => {
  let origins: RunningOrigins;
  let deployment: Deployment;
  let api: TestApi;
  let user: TestUser;
  let folder: string;
  let shop: string;

  /** Writes the declarations in one step. */
  const declare = (text: string) => writeFile(join(folder, 'sites.json'), text);
  const site = (more = '') => `{ "hosts": ["${new URL(shop).host}"]${more} }`;

  beforeAll(async () => {
    if (engines === null) return;
    folder = await mkdtemp(join(tmpdir(), 'gleaner-sites-'));
    origins = await startOrigins({ origins: [origin], misbehaviour: 'none' });
    shop = origins.address('sites', 'example');
    origins.config.sites!.allow_private = true;
    await declare(`{ "kiln": ${site()} }`);
    deployment = await createDeployment({
      stack: { distributed },
      engines,
      origins,
      settings: { GLEANER_SITES: join(folder, 'sites.json'), GLEANER_WORKERS: '1' },
    });
    await deployment.start();
    api = createApi(deployment);
    user = await api.createUser(1_000);
  }, 60_000);
  afterAll(async () => {
    await deployment?.stop();
    await engines?.stop();
    await origins?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });

  /** Runs a job on pages of a site, and returns its state and its records. */
  const run = async (name: string, ...ids: string[]) => {
    const path = `/v1/sites/${name}/pdp/bulk`;
    const items = ids.map((id) => ({ url: `${shop}/p/${id}` }));
    const { status, body } = await api.post(user, `${path}/submit`, { items });
    expect([status, body.status], JSON.stringify(body)).toEqual([202, 'processing']);
    const address = `${deployment.url}${path}/retrieve/${body.job_id}?wait=60s`;
    const ended = await sendJson('GET', address, user.key);
    const file = ended.body.download_url && (await fetch(ended.body.download_url));
    const lines = file
      ? gunzipSync(Buffer.from(await file.arrayBuffer()))
          .toString()
          .trim()
          .split('\n')
      : [];
    return { ...ended.body, records: lines.map((line) => JSON.parse(line)) };
  };
  const regions = async () => {
    const { body } = await sendJson('GET', `${deployment.url}/v1/prices`, user.key);
    return body.prices.find((price: { market: string }) => price.market === 'sites').regions;
  };

  test.skipIf(engines === null)(
    'are read, refunded, mended, and added without a restart',
    async () => {
      const first = await run('kiln', '10001', '10002', '10800');
      expect(first).toMatchObject({ status: 'partial_complete', success: 2, failed: 1 });
      expect(first.errors).toMatchObject([
        { url: `${shop}/p/10800`, error: expect.stringContaining('404') },
      ]);
      const { name, offers } = fakeProduct('10001');
      expect(first.records[0]).toMatchObject({
        url: `${shop}/p/10001`,
        response: {
          title: name,
          price: Number(offers.price),
          currency: 'EUR',
          site: 'kiln',
          extra: {},
        },
      });

      await declare(`{ "kiln": ${site()}, "oak": `);
      expect(await run('kiln', '10003')).toMatchObject({ status: 'completed' });
      expect(await regions()).toEqual(['example', 'kiln']);

      await declare(
        `{ "oak": ${site(', "fields": { "title": "schema.org", "page_title": "title" }')} }`,
      );
      await until('the new site', async () => (await regions()).includes('oak') || undefined, {
        withinMs: 10_000,
      });
      const added = await run('oak', '10004');
      expect(added).toMatchObject({ status: 'completed', success: 1 });
      expect(added.records[0].response.extra.page_title).toContain('Example Shop');
      const gone = await api.post(user, '/v1/sites/kiln/pdp/bulk/submit', {
        items: [{ url: `${shop}/p/1` }],
      });
      expect(gone).toMatchObject({ status: 422, body: { detail: [{ loc: ['path', 'site'] }] } });

      const { body } = await sendJson('GET', `${deployment.url}/v1/account`, user.key);
      expect(body.account?.balance ?? body.balance).toBe(1_000 - 4);
      expect(await deployment.audit()).toMatchObject({ code: 0 });
    },
    90_000,
  );
});
