import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { services } from '../../../src/contract/services.ts';
import { resolveJobTypes } from '../../../src/jobs/job-types.ts';
import { kinds } from '../../../src/kinds/list.ts';
import { markets } from '../../../src/markets/list.ts';
import type { TestUser } from '../../support/service/api.ts';
import { type AnyJson, download, ended, linesOf, run, submitRows, useLife } from './life.ts';

const life = useLife({ GLEANER_IMAGES: 'proxy' });
const get = async (user: TestUser, path: string): Promise<AnyJson> =>
  (await life().api.get(user, path)).body;
const text = async (user: TestUser, path: string): Promise<string> =>
  (await download(life(), `${life().deployment.url}${path}`, user)).text;

/** Jobs with a merged file as CSV, a merged file as gzip, and files of units. */
const jobs: [name: string, kind: string, start: (user: TestUser) => Promise<unknown>][] = [
  [
    'rows',
    'mkta/get_pc_bulk',
    async (user) =>
      ended(
        life(),
        user,
        await submitRows(life(), user, ['sg,7400,61000000001', 'id,7400,61000000800']),
      ),
  ],
  [
    'product pages',
    'mktd/pdp_bulk',
    (user) =>
      run(life(), user, '/v1/mktd/pdp/bulk', {
        items: ['001', '002', '800'].map((digits) => ({
          product_id: `1729000077${digits}`,
          country: 'th',
        })),
      }),
  ],
  [
    'searches',
    'mktb/search_bulk',
    (user) =>
      run(life(), user, '/v1/mktb/search/bulk', {
        items: [{ keyword: 'rak 83701' }, { keyword: 'rak 83702' }],
      }),
  ],
];

test.each(jobs)(
  'exports the records of %s in every format, as the schema says',
  async (_name, table, start) => {
    const user = await life().api.createUser(1_000);
    await start(user);
    const [job] = (await get(user, '/v1/jobs')).jobs;
    const path = `/v1/jobs/${job.job_id}`;
    const { tables } = await get(user, '/v1/schemas');
    const { schema_path: schemaPath, columns } = tables.find(
      (each: AnyJson) => `${each.market}/${each.kind}` === table,
    );

    const rows = linesOf({ text: await text(user, `${path}/results?format=jsonl`) });
    const validate = new Ajv2020({ allowUnionTypes: true, validateFormats: false }).compile(
      JSON.parse(await text(user, schemaPath)),
    );
    for (const row of rows) expect([validate(row), validate.errors]).toEqual([true, null]);
    expect(new Set(rows.map(({ unit_index: index }) => index)).size).toBe(job.success);
    expect(JSON.parse(await text(user, `${path}/results?format=json`))).toEqual(rows);

    const csv = await text(user, `${path}/export?format=csv`);
    const [header, ...records] = parse(csv) as string[][];
    expect(header).toEqual(columns.map(({ name }: AnyJson) => name));
    expect(records.map(([index]) => Number(index))).toEqual(
      rows.map(({ unit_index: index }) => index),
    );
    const lines = linesOf({ text: await text(user, `${path}/results`) });
    const inLines = lines.reduce((sum, { file }) => sum + (file?.items ?? 1), 0);
    expect(records).toHaveLength(inLines);

    const { files } = await get(user, `${path}/files`);
    const parts = await Promise.all(
      files.map(
        async ({ records_url: link }: AnyJson) =>
          (await download(life(), `${link}&format=csv`, user)).text,
      ),
    );
    const bodies = parts.map((part) => part.slice(part.indexOf('\r\n') + 2));
    expect(`${parts[0].slice(0, parts[0].indexOf('\r\n') + 2)}${bodies.join('')}`).toBe(csv);
  },
);

test('lists records with a signed path of their picture, and of no other address', async () => {
  const user = await life().api.createUser(1_000);
  const items = ['001', '002'].map((digits) => ({
    product_id: `1729000077${digits}`,
    country: 'th',
  }));
  await run(life(), user, '/v1/mktd/pdp/bulk', { items });
  const [job] = (await get(user, '/v1/jobs')).jobs;
  const { records } = await get(user, `/v1/jobs/${job.job_id}/records?unit_index=1`);
  expect(records).toHaveLength(1);
  const { image_path: path } = records[0].item;
  expect(path).toMatch(/^\/images\?url=https%3A/);
  const { url } = life().deployment;
  // The host of the fake marketplace's pictures does not exist.
  expect((await fetch(url + path)).status).toBe(404);
  const other = path.replace(/url=[^&]+/, `url=${encodeURIComponent(`${url}/health`)}`);
  expect((await fetch(url + other)).status).toBe(403);
});

test('lists a test record with the drawn picture of its item', async () => {
  const { api, deployment } = life();
  const user = await api.createUser(0);
  const { apiKey: key } = await api.operator('CreateApiKey', {
    user_id: user.id,
    name: 'ci',
    mode: 'test',
  });
  const { id } = await get({ id: '', key }, '/v1/account');
  const tester = { ...user, id, key };
  const items = [{ asin: 'B0GLN01001', country: 'de' }];
  await run(life(), tester, '/v1/mkte/pdp/bulk', { items });
  const [job] = (await get(tester, '/v1/jobs')).jobs;
  const { records } = await get(tester, `/v1/jobs/${job.job_id}/records`);
  const picture = await fetch(`${deployment.url}${records[0].item.image_path}`);
  expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  expect(await picture.text()).toContain('<path d="M');
});

test('lists a table for every kind that a marketplace offers', async () => {
  const user = await life().api.createUser(1);
  const { tables } = await get(user, '/v1/schemas');
  const jobTypes = resolveJobTypes(services, kinds, markets);
  const offered = new Set(
    Array.from(jobTypes.methods.values(), ({ jobType }) => jobType)
      .filter((jobType) => jobType !== null)
      .map(({ market, kind }) => `${market.name}/${kind.name}`),
  );
  expect(tables.map(({ market, kind }: AnyJson) => `${market}/${kind}`).toSorted()).toEqual(
    [...offered].toSorted(),
  );
});
