import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { TestUser } from '../../support/service/api.ts';
import { type AnyJson, download, ended, expectCredits, linesOf, upload, useLife } from './life.ts';

const life = useLife();
const bulk = '/v1/mkta/get_pc_bulk';
const header = 'region,shop_id,item_id';

/** Expects no charge and no task. */
async function expectNothing(user: TestUser, granted: number): Promise<void> {
  await expectCredits(life(), user, { granted, charged: 0, refunded: 0 });
  expect((await life().api.get(user, `${bulk}/tasks`)).body).toEqual({ tasks: [] });
  expect((await life().api.operatorJobs('ListJobs', { user_id: user.id })).jobs ?? []).toEqual([]);
}

const placesOf = ({ detail }: AnyJson): unknown[] =>
  detail.map(({ loc, type, msg }: AnyJson) => {
    expect(msg).toMatch(/\S/);
    return [loc, type];
  });

test('creates one task with 2,000 rows, in order, from a CSV written by a spreadsheet', async () => {
  const user = await life().api.createUser(16_000);
  const ids = Array.from({ length: 2_000 }, (_, at) =>
    String(61_000_000_000 + Math.floor(at / 600) * 1_000 + (at % 600)),
  );
  const rows = ids.map((id, at) =>
    at % 2 ? `"12"" x 9"" tray, ""new""",sg,7400,${id},7400` : `  ,"sg", 7400 ,"${id}",7400,,`,
  );
  const csv = `\ufeff"note",REGION,shop_id,item_id,shop_id\r\n${rows.join('\r\n')}\r\n\r\n`;
  const { status, body } = await upload(life(), user, csv, { result_format: 'jsonl' });
  expect([status, body]).toEqual([
    202,
    {
      task_id: expect.any(Number),
      status: 'processing',
      total: 2_000,
      cost: 16_000,
      result_format: 'jsonl',
      rescrape: false,
    },
  ]);
  const shown = await ended(life(), user, { path: bulk, id: String(body.task_id), response: body });
  expect(shown).toMatchObject({ status: 'completed', total: 2_000, success: 2_000, refunded: 0 });
  const lines = linesOf(await download(life(), shown.download_url));
  expect(lines.map(({ item_id }) => item_id)).toEqual(ids);
  await expectCredits(life(), user, { granted: 16_000, charged: 16_000, refunded: 0 });
});

describe('charges nothing and creates no task for', () => {
  test.each<[string, string | Uint8Array, unknown[]]>([
    ['2,001 rows', `${header}\n${'sg,1,2\n'.repeat(2_001)}`, [[['body', 'file'], 'too_long']]],
    ['no rows', `${header}\r\n`, [[['body', 'file'], 'too_short']]],
    [
      'a file without a column',
      'region,item_id\nsg,2\n',
      [[['body', 'file', 0, 'shop_id'], 'missing']],
    ],
    [
      'rows without cells among valid ones',
      `${header}\nsg,1,2\nsg,1\nsg,,2\n\n,1,2\n`,
      [
        [['body', 'file', 2, 'item_id'], 'missing'],
        [['body', 'file', 3, 'shop_id'], 'missing'],
        [['body', 'file', 4, 'region'], 'missing'],
      ],
    ],
    ['an unknown region', `${header}\nsg,1,2\nfr,1,2\n`, [[['body', 'file', 2, 'region'], 'enum']]],
    [
      'half a UTF-8 sequence',
      Buffer.concat([Buffer.from(`${header}\nsg,1,2\nsg,1,`), Buffer.from([0xe3, 0x83])]),
      [[['body', 'file'], 'unicode_error']],
    ],
    [
      'arbitrary bytes',
      Buffer.from(Array.from({ length: 50_000 }, (_, at) => (at * 31) % 256)),
      [[['body', 'file'], 'unicode_error']],
    ],
    [
      '7 MB of junk',
      'lorem ipsum dolor sit amet '.repeat(260_000),
      [[['body', 'file'], 'csv_parsing']],
    ],
  ])('%s', async (_, csv, problems) => {
    const user = await life().api.createUser(20_000);
    const { status, body } = await upload(life(), user, csv);
    expect([status, placesOf(body)]).toEqual([422, problems]);
    await expectNothing(user, 20_000);
  });

  test('10 MB of junk, rejected by size', async () => {
    const user = await life().api.createUser(20_000);
    const { status, body } = await uploadAll(
      user,
      Buffer.alloc(10 * 1024 * 1024, 'lorem ipsum,\n'),
    );
    expect([status, body]).toMatchObject([413, { detail: expect.stringMatching(/larger/) }]);
    await expectNothing(user, 20_000);
  });

  test('rows that cost more than the balance', async () => {
    const user = await life().api.createUser(15);
    const { status, body } = await upload(life(), user, `${header}\nsg,1,2\nsg,1,3\n`);
    expect([status, body]).toMatchObject([
      402,
      { detail: expect.any(String), required: 16, current: 15, shortfall: 1 },
    ]);
    await expectNothing(user, 15);
  });
});

/** Uploads without Content-Length, like a client that streams its file. */
function uploadAll(user: TestUser, file: Buffer): Promise<{ status: number; body: AnyJson }> {
  const boundary = 'a-boundary';
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\n\r\n`;
  return new Promise((resolve, reject) => {
    const outgoing = request(`${life().deployment.url}${bulk}/submit`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${user.key}`,
        'content-type': `multipart/form-data; boundary=${boundary}`,
      },
    });
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          body: JSON.parse(Buffer.concat(chunks).toString()),
        }),
      );
    });
    outgoing.on('error', reject);
    outgoing.write(head);
    outgoing.write(file);
    outgoing.end(`\r\n--${boundary}--\r\n`);
  });
}
