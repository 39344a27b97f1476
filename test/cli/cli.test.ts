import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestUser } from '../support/service/api.ts';
import { createShellCommand } from '../support/service/shell-command.ts';
import { openPlace, type Place } from './place.ts';
import { type Ran, runCli, startCli } from './run.ts';

let place: Place;
let ann: TestUser;

beforeAll(async () => {
  place = await openPlace();
  ann = await place.api.createUser(100_000);
});
afterAll(() => place?.close());

const start = (parameters: readonly string[], env?: Record<string, string>) =>
  startCli(place, parameters, env);
const run = (parameters: readonly string[], options: Parameters<typeof runCli>[2]) =>
  runCli(place, parameters, options);

/** Run the command line as the user and as the operator. */
const user = (parameters: readonly string[], input?: string) =>
  run(parameters, { env: { GLEANER_API_KEY: ann.key }, ...(input === undefined ? {} : { input }) });
const operator = (...parameters: string[]) =>
  run(parameters, { env: { GLEANER_OPERATOR_KEY: place.deployment.operatorKey } });

const pages = 'product_key,shop_domain\nbarang-1001,toko-7\nbarang-1800,toko-7\n';

describe('a job', () => {
  test('is submitted from a CSV and watched, and its files are downloaded and verified', async () => {
    const done = await user(
      ['job', 'submit', 'mktb', 'pdp_bulk', '-', '--wait', '--download', 'saved', '--json'],
      pages,
    );
    expect(done.code).toBe(7);
    const [submitted, file, job] = done.json;
    expect(submitted).toMatchObject({ status: 'processing', total: 2, cost: 10 });
    expect(job).toMatchObject({
      job_id: submitted.job_id,
      status: 'partial_complete',
      success: 1,
      failed: 1,
    });
    expect(file).toMatchObject({
      scope: 'job',
      items: 1,
      path: join(place.folder, 'saved', file.name),
    });
    const lines = gunzipSync(await readFile(file.path)).toString('utf8');
    expect(JSON.parse(lines)).toMatchObject({ product_key: 'barang-1001' });

    const again = await user(['job', 'download', submitted.job_id, '--dir', 'saved', '--json']);
    expect(again.json).toMatchObject([{ name: file.name, fetched: 0 }]);
    expect(await readdir(join(place.folder, 'saved'))).toEqual([file.name]);

    const results = await user(['job', 'results', submitted.job_id]);
    expect(results.json).toMatchObject([{ index: 0, key: 'barang-1001' }]);
    const table = await user([
      'job',
      'results',
      submitted.job_id,
      '--format',
      'csv',
      '-o',
      'table.csv',
    ]);
    expect([table.code, table.out]).toEqual([0, '']);
    expect(await readFile(join(place.folder, 'table.csv'), 'utf8')).toMatch(
      /^unit_index,.*\r\n0,barang-1001,/s,
    );
    const saved = await user([
      'job',
      'download',
      submitted.job_id,
      '--format',
      'parquet',
      '--dir',
      'tables',
      '--json',
    ]);
    const name = `mktb_pdp_bulk_${submitted.job_id}.parquet`;
    expect(saved.json).toMatchObject([{ name, path: join(place.folder, 'tables', name) }]);
    const ends = (await readFile(join(place.folder, 'tables', name), 'latin1')).replace(
      /^(.{4}).*(.{4})$/s,
      '$1$2',
    );
    expect(ends).toBe('PAR1PAR1');
    for (const [format, words] of [
      ['xlsx', 'not one of'],
      ['parquet', '--output'],
    ] as const) {
      const refused = await user(['job', 'results', submitted.job_id, '--format', format]);
      expect([refused.code, refused.err]).toEqual([2, expect.stringContaining(words)]);
    }
    const select = (...flags: string[]) => user(['job', 'results', ...flags, submitted.job_id]);
    expect(
      (await select('--filter', 'unit_key=barang-1001', '--sort', '-unit_key')).json,
    ).toMatchObject([{ unit_key: 'barang-1001' }]);
    expect(
      await select('--filter', 'unit_key=barang-1001', '--filter', 'unit_key=1'),
    ).toMatchObject({
      code: 0,
      out: '',
    });
    expect(await select('--search', 'nowhere to be found')).toMatchObject({ code: 0, out: '' });
    expect(await select('--filter', 'price')).toMatchObject({
      code: 2,
      err: expect.stringContaining('filter'),
    });
    const refusedTable = await user(['job', 'download', submitted.job_id, '--search', 'x']);
    expect([refusedTable.code, refusedTable.err]).toEqual([
      2,
      expect.stringContaining('add --format'),
    ]);
    expect((await operator('job', 'results', submitted.job_id)).json).toEqual(results.json);
    const operatorTable = await operator('job', 'results', submitted.job_id, '--format', 'csv');
    expect(operatorTable.out).toBe(await readFile(join(place.folder, 'table.csv'), 'utf8'));
    const quality = await user(['job', 'show', submitted.job_id, '--quality', '--json']);
    expect(quality.json).toMatchObject([{ records: 1, invalid: 0 }]);
    expect((await operator('job', 'show', submitted.job_id, '--quality', '--json')).json).toEqual(
      quality.json,
    );
    const failures = await user([
      'job',
      'failures',
      submitted.job_id,
      '--format',
      'csv',
      '-o',
      'failures.csv',
    ]);
    expect(failures.out).toBe('');
    expect(await readFile(join(place.folder, 'failures.csv'), 'utf8')).toMatch(
      /^index,.*\n1,.*page_not_found/s,
    );

    const watched = await user(['job', 'wait', submitted.job_id, '--json']);
    expect(watched.code).toBe(7);
    expect(watched.json.at(-1)).toMatchObject({ status: 'partial_complete', ended: true });
    const retried = await user(['job', 'retry', submitted.job_id]);
    expect([retried.code, retried.out]).toEqual([6, '']);
    expect(retried.err).toContain('1 page_not_found');
  });

  test('is retried with a warning about the units that are left out', async () => {
    const rows = 'product_key,shop_domain\nbarang-1800,toko-7\nbarang-1812,toko-7\n';
    const done = await user(['job', 'submit', 'mktb', 'pdp_bulk', '-', '--wait', '--json'], rows);
    const retried = await user(['job', 'retry', done.json[0].job_id]);
    expect(retried.code).toBe(0);
    expect(retried.err).toContain('warning: 1 of 2 failed units are retried.');
    expect(retried.out).toMatch(/^[0-9a-f-]{36}\n$/);
  });

  test('is refused above --max-credits, as is its retry', async () => {
    const rows = 'product_key,shop_domain\nbarang-1812,toko-7\nbarang-1001,toko-7\n';
    const submit = (max: string) =>
      user(
        ['job', 'submit', 'mktb', 'pdp_bulk', '-', '--wait', '--json', '--max-credits', max],
        rows,
      );
    const refused = await submit('9');
    expect([refused.code, refused.out]).toEqual([5, '']);
    expect(refused.err).toContain(
      'max_credits: The work costs 10 credits, more than the maximum of 9',
    );
    const invalid = await submit('-1');
    expect([invalid.code, invalid.out]).toEqual([2, '']);
    expect(invalid.err).toContain(
      '--max-credits: Input should be greater than or equal to 0, not -1',
    );
    const done = await submit('10');
    expect(done.json.at(-1)).toMatchObject({ cost: 10, failed: 1, options: { max_credits: 10 } });
    const retried = await user(['job', 'retry', done.json[0].job_id, '--max-credits', '4']);
    expect([retried.code, retried.out]).toEqual([5, '']);
  });

  test('has a price, which `kind list` shows with the fields', async () => {
    const { out, code } = await user(['kind', 'list', 'mktb']);
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(/^mktb +pdp_bulk +5 +submit +no +any +\S+ +product_key, shop_domain$/m),
    ]);
    expect(out).not.toContain('mkta');
    expect((await user(['kind', 'list', '--json'])).json).toHaveLength(16);
  });

  test('is quoted by --dry-run, as is its retry', async () => {
    const rows = 'product_key,shop_domain\nbarang-1812,toko-7\nbarang-1812,toko-7\n';
    const jobIds = async () =>
      (await user(['job', 'list', '--json'])).json.map(({ job_id: id }) => id);
    const before = await jobIds();
    const quoted = await user(['job', 'submit', 'mktb', 'pdp_bulk', '-', '--dry-run'], rows);
    expect([quoted.code, quoted.err]).toEqual([0, '']);
    expect(quoted.out).toMatch(/^cost +10 credits \(5 per unit\), charged at submit$/m);
    expect(quoted.out).toMatch(/^warning +One unit is the same as an earlier one\./m);
    const over = await user(
      ['job', 'submit', 'mktb', 'pdp_bulk', '-', '--dry-run', '--json', '--max-credits', '9'],
      rows,
    );
    expect([over.code, over.json[0]]).toMatchObject([
      5,
      { accepted: false, cost: 10, over_max_credits: true },
    ]);
    const invalid = await user(
      ['job', 'submit', 'mktb', 'pdp_bulk', '-', '--dry-run'],
      'product_key,shop_domain\n,x\n',
    );
    expect([invalid.code, invalid.out]).toEqual([2, '']);
    expect(await jobIds()).toEqual(before);
    const done = await user(['job', 'submit', 'mktb', 'pdp_bulk', '-', '--wait', '--json'], rows);
    const retry = ['job', 'retry', done.json[0].job_id, '--dry-run', '--json'];
    for (const { code, json } of [await user(retry), await operator(...retry)])
      expect([code, json[0]]).toMatchObject([0, { units: 2, cost: 10 }]);
    expect(await jobIds()).toHaveLength(before.length + 1);
  });

  test('awaiting approval is approved, and only its id is printed', async () => {
    const items =
      '{"item_id": 20000000001, "shop_id": "7001"}\n{"item_id": "20000000002", "shop_id": "7001"}\n';
    const { out, err, code } = await user(
      ['job', 'submit', 'mkta', 'variant-sold', '-', '--set', 'country=id'],
      items,
    );
    expect([code, err]).toEqual([0, '2 units submitted for 20 credits: awaiting_approval\n']);
    const id = out.trimEnd();
    expect(
      (await operator('job', 'list', '--status', 'awaiting_approval', '--json')).json,
    ).toMatchObject([{ job_id: id, user_name: 'Test' }]);
    const impatient = await user(['job', 'wait', id, '--timeout', '0']);
    expect([impatient.code, impatient.out]).toEqual([9, `${id} awaiting_approval\n`]);
    expect((await operator('job', 'approve', id)).out).toBe(`${id} processing\n`);
    expect(await user(['job', 'wait', `/v1/mkta/variant_sold_v1/retrieve/${id}`])).toMatchObject({
      code: 0,
      out: `${id} completed\n`,
    });
    expect(await operator('job', 'approve', id)).toMatchObject({ code: 6 });
  });

  test('of one unit is submitted by flags and found by its number', async () => {
    const settings = ['region=id', 'item_id=20000000001', 'shop_id=7001'].flatMap((set) => [
      '--set',
      set,
    ]);
    const { json } = await user(['job', 'submit', 'mkta', 'get_pc', '--json', ...settings]);
    expect(json[0]).toMatchObject({
      task_id: expect.any(Number),
      job_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const number = String(json[0].task_id);
    expect((await user(['job', 'wait', number])).code).toBe(0);
    expect((await user(['job', 'show', number, '--json'])).json[0].job_id).toBe(json[0].job_id);
    const none = await user(['job', 'download', number]);
    expect(none.code).toBe(4);
    expect(none.err).toContain('has no files; `gleaner job results');
    expect((await user(['job', 'results', number])).json[0].record).toBeDefined();
  });

  test('of a CSV uploads the file with the other options', async () => {
    const csv = 'region,shop_id,item_id\nid,7001,20000000001\n';
    const { json, code } = await user(
      [
        'job',
        'submit',
        'mkta',
        'get_pc_bulk',
        '-',
        '--set',
        'result_format=jsonl',
        '--wait',
        '--json',
      ],
      csv,
    );
    expect(code).toBe(0);
    expect(json[0]).toMatchObject({ total: 1, result_format: 'jsonl', rescrape: false });
  });

  test('of one unit prints its record, or why it failed', async () => {
    const one = ['job', 'submit', 'mktd', 'pdp_bulk', '-', '--record'];
    const read = await user(one, 'product_id,country\n1729000076001,th\n');
    expect([read.code, JSON.parse(read.out)]).toMatchObject([0, { _product_id: '1729000076001' }]);
    const json = await user([...one, '--json'], 'product_id,country\n1729000076001,th\n');
    expect(json.json).toMatchObject([{ _product_id: '1729000076001' }]);
    const failed = await user(one, 'product_id,country\n1729000076800,th\n');
    expect([failed.code, failed.out]).toEqual([7, '']);
    expect(failed.err).toMatch(/The unit failed: .* \(page_not_found\)/);
    const two = await user(one, 'product_id,country\n1729000076001,th\n1729000076002,th\n');
    expect([two.code, two.err]).toEqual([2, expect.stringContaining('the job has 2 units')]);
    const files = await user(
      ['job', 'submit', 'mktb', 'search_bulk', '-', '--record'],
      'keyword\nkopi\n',
    );
    expect([files.code, files.err]).toEqual([2, expect.stringContaining('--download <folder>')]);
  });

  test('is submitted once per idempotency key', async () => {
    const key = ['--idempotency-key', 'nightly-1', '--json'];
    const [one, two] = [
      await user(['job', 'submit', 'mktb', 'pdp_bulk', '-', ...key], pages),
      await user(['job', 'submit', 'mktb', 'pdp_bulk', '-', ...key], pages),
    ];
    expect(two!.json[0].job_id).toBe(one!.json[0].job_id);
    const other = await user(
      ['job', 'submit', 'mktb', 'pdp_bulk', '-', ...key],
      `${pages}barang-1,toko-1\n`,
    );
    expect(other.code).toBe(6);
  });

  test('with invalid rows is rejected with their line numbers', async () => {
    const { code, err, out } = await user(
      ['job', 'submit', 'mkta', 'variant_sold', '-', '--set', 'country=id'],
      'item_id,shop_id\n1,\nabc,2\n',
    );
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('items.0.shop_id: Field required (line 2)');
    expect(err).toContain('items.1.item_id: ');
    expect(err).toContain('(line 3)');
  });
});

describe('exit codes and messages', () => {
  test.each([
    ['an unknown option', ['job', 'list', '--nope'], 2, "gleaner: unknown option '--nope'"],
    [
      'a missing file',
      ['job', 'submit', 'mktb', 'pdp_bulk', 'none.csv'],
      2,
      'Cannot read none.csv: ENOENT',
    ],
    [
      'a missing log',
      ['logs', 'none.log'],
      2,
      "no such file or directory, access '<folder>/none.log'",
    ],
    ['a folder in place of a log', ['logs', '.'], 2, 'EISDIR'],
    [
      'an unknown level',
      ['logs', '-', '--level', 'loud'],
      2,
      '--level: "loud" is not one of trace',
    ],
    [
      'a missing folder',
      ['ledger', 'list', '--export', 'csv', '-o', 'none/ledger.csv'],
      2,
      "open '<folder>/none/ledger.csv.",
    ],
    ['an unknown page', ['open', 'nowhere'], 2, 'No page "nowhere". Pass a job, or one of jobs'],
    [
      'missing columns beside an unknown one',
      ['job', 'submit', 'mktb', 'pdp_bulk', '-', '--set', 'shop_domain=toko-7'],
      2,
      `The column 'product_key' is missing. The first line has "wrong"`,
    ],
    [
      'a wrong key',
      ['account', 'show', '--key', 'gl_nobody'],
      3,
      'The API key is not valid (API key of --key)',
    ],
    [
      'a missing job',
      ['job', 'show', '00000000-0000-4000-8000-000000000000'],
      4,
      'There is no job',
    ],
    [
      'a service that is away',
      ['account', 'show', '--url', 'http://127.0.0.1:9', '--key', 'k'],
      8,
      'does not respond',
    ],
  ])('%s', async (_, parameters, code, message) => {
    const ran = await user(parameters, 'wrong\n1\n');
    expect([ran.code, ran.out]).toEqual([code, '']);
    expect(ran.err).toContain(message.replace('<folder>', place.folder));
    expect(ran.err.trimEnd().split('\n')).toHaveLength(1);
  });

  test('an address of another service', async () => {
    const other = createServer((_request, response) => response.writeHead(404).end('Not Found'));
    other.listen(0, '127.0.0.1');
    await once(other, 'listening');
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    expect(await user(['account', 'show', '--url', url, '--key', 'k'])).toMatchObject({
      code: 4,
      err: `gleaner: ${url} is not the address of Gleaner's API: Not Found\n`,
    });
    other.close();
  });

  test('prints its version', async () => {
    expect((await user(['--version'])).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  test('no key', async () => {
    expect(await run(['account', 'show'], {})).toMatchObject({ code: 2, out: '' });
  });

  test('too few credits', async () => {
    const poor = await place.api.createUser(1);
    const ran = await run(['job', 'submit', 'mktb', 'pdp_bulk', '-'], {
      input: pages,
      env: { GLEANER_API_KEY: poor.key },
    });
    expect(ran).toMatchObject({ code: 5, err: expect.stringContaining('9 short') });
  });

  test('a closed output pipe', async () => {
    const child = start(['kind', 'list', '--json'], { GLEANER_API_KEY: ann.key });
    child.stdout.destroy();
    const err = await text(child.stderr);
    expect([err, child.exitCode ?? (await once(child, 'close'))[0]]).toEqual(['', 0]);
  });

  test('Ctrl-C', async () => {
    const { out } = await user(
      ['job', 'submit', 'mkta', 'variant_sold', '-', '--set', 'country=id'],
      'item_id,shop_id\n1,2\n',
    );
    const child = start(['job', 'wait', out.trimEnd()], { GLEANER_API_KEY: ann.key });
    // The status line shows that it is waiting. Node may have printed a warning before.
    let told = '';
    const status = Promise.withResolvers<void>();
    child.stderr.on('data', (chunk) => {
      told += chunk;
      if (told.includes('awaiting_approval')) status.resolve();
    });
    await status.promise;
    // Sends the signal twice, because the launcher and the terminal both send it.
    for (let times = 0; times < 2; times += 1) child.kill('SIGINT');
    const [code, signal] = await once(child, 'close');
    // The second signal may reach a process that has given up its handlers to exit: a shell reports
    // 130 for both.
    expect(code ?? signal).toBeOneOf([130, 'SIGINT']);
    expect((await user(['job', 'cancel', out.trimEnd(), '--json'])).json[0].status).toBe(
      'rejected',
    );
  });
});

test('open prints the address of a page of the console', async () => {
  const { url } = place.deployment;
  expect((await user(['open'])).out).toBe(`${url}/console\n`);
  expect((await user(['open', 'keys', '--json'])).json).toEqual([{ url: `${url}/console/keys` }]);
  const jobId = '00000000-0000-4000-8000-000000000000';
  expect((await user(['open', jobId])).out).toBe(`${url}/console/jobs/${jobId}\n`);
});

test('logs formats and filters log lines, and keeps other output', async () => {
  const line = (level: number, fields: object) =>
    `${JSON.stringify({ level, time: '2030-01-07T04:00:00.000Z', role: 'serve', ...fields })}\n`;
  const request = line(30, { requestId: 'r1', status: 200, msg: 'request' });
  const ended = line(40, { jobId: 'j1', msg: 'job\u001b[31m ended\u2028early' });
  const log = `Gleaner, serve\n${request}${ended}`;
  const shown = (await user(['logs'], log)).out;
  expect(shown).toContain('Gleaner, serve\n');
  expect(shown).toMatch(
    /^\[\d\d:\d\d:00\] INFO: serve: request \{"requestId":"r1","status":200\}$/m,
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: no color where the output is not a terminal.
  expect(shown).not.toMatch(/\u001b/);
  expect((await user(['logs', '--level', 'warn', '--json'], log)).out).toBe(ended);
  expect((await user(['logs', '--request', 'r1', '--json'], log)).out).toBe(request);
  expect((await user(['logs', '--job', 'j1', '--json'], log)).out).toBe(ended);
});

test('an account: ledger, usage, keys, and webhook', async () => {
  const { balance } = (await user(['account', 'show', '--json'])).json[0];
  const shown = (await user(['account', 'show'])).out;
  expect(shown).toMatch(/^key +of GLEANER_API_KEY$/m);
  expect(Number(/^balance +(\S+) credits$/m.exec(shown)![1]!.replaceAll(',', ''))).toBe(balance);
  const csv = (await user(['ledger', 'list', '--export', 'csv'])).out.trimEnd().split('\n');
  const amounts = csv.slice(1).map((line) => Number(line.split(',')[1]));
  expect(amounts.reduce((total, amount) => total + amount, 0)).toBe(balance);
  expect((await user(['ledger', 'list', '--limit', '0', '--json'])).json).toHaveLength(
    amounts.length,
  );
  expect((await user(['account', 'usage', '--days', '2', '--json'])).json.at(-1)).toMatchObject({
    granted: 100_000,
  });

  const made = (await user(['key', 'create', 'ci', '--expires', '30d', '--json'])).json[0];
  expect((await user(['key', 'revoke', made.key_id])).out).toBe(`${made.key_id} revoked\n`);
  expect((await run(['account', 'show'], { env: { GLEANER_API_KEY: made.api_key } })).code).toBe(3);
  expect((await user(['key', 'list', '--json'])).json.map(({ name }) => name)).toEqual([
    'ci',
    'test',
  ]);

  const set = (await user(['webhook', 'set', 'https://hooks.example.test/x', '--off', '--json']))
    .json[0];
  expect(set).toMatchObject({ enabled: false, secret: expect.stringMatching(/^whsec_/) });
  expect((await user(['webhook', 'rotate', '--json'])).json[0].secret).not.toBe(set.secret);
  expect((await user(['webhook', 'set', ''])).out).toBe('No webhook is set.\n');
  expect((await user(['delivery', 'test'])).code).toBe(4);
});

test('an operator: users, keys, credits, and the state of the service', async () => {
  const id = (await operator('user', 'create', 'Bob', '--email', 'bob@example.test')).out.trimEnd();
  const key = (await operator('key', 'create', '--user', id)).out.trimEnd();
  expect((await operator('user', 'credit', id, '1200', '--note', 'hello')).out).toBe('1,200\n');
  for (let time = 0; time < 2; time += 1)
    expect(
      (await operator('user', 'credit', id, '--idempotency-key', 'k1', '--', '-200')).out,
    ).toBe('1,000\n');
  expect(
    (await run(['account', 'show', '--json'], { env: { GLEANER_API_KEY: key } })).json[0].balance,
  ).toBe(1_000);
  expect((await operator('user', 'list', '--search', 'bob@', '--json')).json).toMatchObject([
    { id, name: 'Bob' },
  ]);
  expect((await operator('ledger', 'list', '--user', id, '--json')).json).toMatchObject([
    { amount: -200, user_id: id },
    { amount: 1200, note: 'hello' },
  ]);
  expect((await operator('user', 'suspend', id, '--json')).json[0].suspended).toBe(true);
  expect((await run(['account', 'show'], { env: { GLEANER_API_KEY: key } })).code).toBe(3);
  expect((await operator('user', 'resume', id)).code).toBe(0);
  const byName = await operator('user', 'credit', 'Bob Lee', '5');
  expect([byName.code, byName.err]).toEqual([
    2,
    expect.stringContaining("Pass an id, which `gleaner user list --search 'Bob Lee'` prints."),
  ]);
  const { key_id: keyId } = (await operator('key', 'list', '--user', id, '--json')).json[0];
  const limits = ['--scopes', 'read', '--credit-ceiling', '20'];
  const readOnly = (
    await operator('key', 'create', 'reader', '--user', id, ...limits)
  ).out.trimEnd();
  expect((await run(['job', 'list'], { env: { GLEANER_API_KEY: readOnly } })).code).toBe(0);
  expect((await run(['key', 'create', 'x'], { env: { GLEANER_API_KEY: readOnly } })).code).toBe(3);
  expect((await operator('key', 'list', '--user', id)).out).toMatch(/reader +read +0 of 20 /);
  expect((await operator('key', 'list')).err).toContain('Pass --user with the id of a user');
  const others = await operator('key', 'revoke', keyId, '--user', ann.id);
  expect([others.code, others.err]).toEqual([
    2,
    expect.stringContaining('is not a key of the user'),
  ]);
  expect((await operator('key', 'revoke', keyId, '--user', id)).code).toBe(0);
  expect((await run(['account', 'show'], { env: { GLEANER_API_KEY: key } })).code).toBe(3);

  const maria = (await operator('operator', 'create', 'Maria')).out.trimEnd();
  const mariaKey = (await operator('key', 'create', 'laptop', '--user', maria)).out.trimEnd();
  const asMaria = await run(['operator', 'list', '--json'], {
    env: { GLEANER_OPERATOR_KEY: mariaKey },
  });
  expect(asMaria.json).toMatchObject([
    { id: maria, keys: [{ name: 'laptop' }] },
    { name: 'operator' },
  ]);
  expect((await operator('operator', 'list')).out).toMatch(/Maria +1 /);

  const actions = (await operator('audit-log', 'list', '--target', id, '--json')).json;
  expect(actions.map(({ action }) => action)).toContain('SuspendUser');
  expect(actions).toContainEqual(
    expect.objectContaining({
      action: 'CreateUser',
      actor_name: 'operator',
      source: '127.0.0.1',
      outcome: 'ok',
    }),
  );
  expect((await operator('audit-log', 'list', '--by', maria)).err).toBe('No matching actions.\n');
  expect((await operator('audit-log', 'list', '--target', id)).out).toMatch(
    / SuspendUser +\S+ +"suspended":true +ok /,
  );
  const misspelled = await operator('audit-log', 'list', '--outcome', 'forbid');
  expect([misspelled.code, misspelled.err]).toEqual([
    2,
    'gleaner: --outcome: no action has "forbid". Did you mean forbidden?\n',
  ]);

  const exported = await operator(
    'audit-log',
    'list',
    '--action',
    'GrantCredits',
    '--export',
    'csv',
  );
  expect(exported.out).toMatch(/^time,actor_id,.*\r\n.*,GrantCredits,/);
  const viewer = (
    await operator('key', 'create', 'tv', '--user', maria, '--role', 'viewer')
  ).out.trimEnd();
  const asViewer = (...line: string[]) => run(line, { env: { GLEANER_OPERATOR_KEY: viewer } });
  expect((await asViewer('user', 'list')).code).toBe(0);
  const denied = await asViewer('user', 'credit', id, '5');
  expect([denied.code, denied.err]).toEqual([
    3,
    "gleaner: This call needs an operator key with the role 'admin'; this key has the role 'viewer' (operator's key of GLEANER_OPERATOR_KEY)\n",
  ]);
  expect(
    (await operator('audit-log', 'list', '--outcome', 'forbidden', '--json')).json,
  ).toMatchObject([
    { action: 'GrantCredits', actor_name: 'Maria', target: '', outcome: 'forbidden' },
    { action: 'CreateApiKey', actor_name: 'Bob', target: '', outcome: 'forbidden' },
  ]);
  expect((await operator('key', 'create', '--user', maria, '--role', 'boss')).code).toBe(2);
  expect((await operator('audit-log', 'list', '--since', 'soon')).err).toContain(
    '--since: "soon" is not a date',
  );

  const [status] = (await operator('status', '--json')).json;
  expect(status).toMatchObject({ processes: [{ role: 'serve' }] });
  expect(status.origins.length).toBeGreaterThan(5);
  expect(status.settings).toContainEqual(expect.objectContaining({ name: 'GLEANER_OPERATOR_KEY' }));
  expect((await operator('status')).out).toMatch(
    /^No batches are queued\..*\n\nROLE .*\nserve .*\n\nMARKET .*\n(.*\n)+\nNAME +VALUE\nGLEANER_/,
  );
  expect(await operator('status', 'toString')).toMatchObject({ code: 2 });
  expect((await operator('status', 'work', '--json')).json[0].processes).toMatchObject([
    { role: 'serve' },
  ]);
  expect((await operator('status', 'settings', '--json')).json).toContainEqual(
    expect.objectContaining({ name: 'GLEANER_OPERATOR_KEY', value: '(set)' }),
  );
  expect((await operator('status', 'origins', '--json')).json.length).toBeGreaterThan(5);
  for (const command of [
    ['drift', 'list'],
    ['delivery', 'list'],
    ['delivery', 'test'],
    ['job', 'list', '--user', 'all', '--search', id],
  ])
    expect(await operator(...command)).toMatchObject({ code: 0 });
});

test('a job has a name, by which it is found', async () => {
  const dora = await place.api.createUser(1_000);
  const asDora = (...parameters: string[]) =>
    run(parameters, {
      env: { GLEANER_API_KEY: dora.key },
      input: 'product_key,shop_domain\nbarang-1001,toko-7\n',
    });
  const submit = ['job', 'submit', 'mktb', 'pdp_bulk', '-'];
  expect(await asDora(...submit, '--name', '')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--name: String should have at least 1 character'),
  });
  const named = (await asDora(...submit, '--name', 'Übersicht 50%')).out.trimEnd();
  const plain = (await asDora(...submit)).out.trimEnd();
  const listed = (await asDora('job', 'list')).out;
  expect(listed).toMatch(new RegExp(`${named} .* Übersicht 50%\\n`));
  expect((await asDora('job', 'list', '--search', 'übersicht')).out).not.toContain(plain);
  expect((await asDora('job', 'list', '--search', plain)).out).toContain(plain);
  expect((await asDora('job', 'show', named)).out).toMatch(/^name +Übersicht 50%\n/);
  expect((await asDora('job', 'show', plain)).out).toMatch(/^job +/);
});

test('files of jobs, accounts, and users are deleted and exported', async () => {
  const cleo = await place.api.createUser(1_000);
  const asCleo = (...parameters: string[]) =>
    run(parameters, { env: { GLEANER_API_KEY: cleo.key } });
  const submitted = await run(['job', 'submit', 'mktb', 'pdp_bulk', '-', '--wait'], {
    env: { GLEANER_API_KEY: cleo.key },
    input: 'product_key,shop_domain\nbarang-1001,toko-7\n',
  });
  const jobId = submitted.out.trimEnd();
  expect((await asCleo('job', 'delete-files', jobId)).out).toBe(`${jobId} files deleted\n`);
  const missing = '00000000-0000-4000-8000-000000000000';
  const deleted = await asCleo('job', 'delete-files', missing, jobId);
  expect([deleted.code, deleted.out]).toEqual([4, `${jobId} files deleted\n`]);
  expect(deleted.err).toContain(`(${missing})`);
  const shown = (userId: string) => operator('job', 'show', jobId, '--user', userId, '--json');
  expect((await shown(cleo.id)).json).toMatchObject([{ job_id: jobId }]);
  expect(await shown(ann.id)).toMatchObject({
    code: 2,
    err: expect.stringContaining('is not a job of'),
  });
  expect((await operator('job', 'list', '--user', cleo.id, '--json')).json).toHaveLength(1);
  expect((await asCleo('job', 'download', jobId)).err).toMatch(
    `the files of ${jobId} were deleted on `,
  );
  expect((await asCleo('job', 'results', jobId)).err).toContain('were deleted');
  const types = (exported: Ran) => new Set(exported.json.map(({ type }) => type));
  expect(types(await asCleo('account', 'export'))).toEqual(
    new Set(['account', 'key', 'job', 'unit', 'ledger_entry', 'audit_entry']),
  );
  expect(await operator('user', 'delete', cleo.id)).toMatchObject({
    code: 2,
    err: expect.stringMatching(/This deletes \S+ with all jobs and files, and cannot be undone/),
  });
  expect((await asCleo('account', 'show')).code).toBe(0);
  expect((await operator('user', 'delete', '--yes', cleo.id)).out).toMatch(/^status +deleted$/m);
  expect((await asCleo('account', 'show')).code).toBe(3);
  expect(types(await operator('user', 'export', cleo.id))).toContain('ledger_entry');
});

test('profiles are readable by their owner only; environment variables override them, and flags override both', async () => {
  const file = join(place.folder, 'etc', 'config.json');
  const env = { GLEANER_CONFIG: file, GLEANER_URL: '' };
  const config = (...parameters: string[]) => run(['config', ...parameters], { env });
  expect((await config('set', 'url', `${place.deployment.url}/`)).code).toBe(0);
  expect((await run(['config', 'set', 'api-key', '-'], { env, input: `${ann.key}\n` })).code).toBe(
    0,
  );
  expect((await config('set', 'url', 'http://127.0.0.1:9', '--profile', 'other')).code).toBe(0);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await run(['account', 'show', '--json'], { env })).json[0].id).toBe(ann.id);
  expect((await run(['account', 'show', '--profile', 'other', '--key', 'k'], { env })).code).toBe(
    8,
  );
  expect(
    (await run(['account', 'show'], { env: { ...env, GLEANER_API_KEY: 'gl_nobody' } })).code,
  ).toBe(3);
  expect(
    (await run(['account', 'show'], { env: { ...env, GLEANER_PROFILE: 'none' } })).err,
  ).toContain('No profile "none"');
  const shown = await config('show', '--json');
  expect(shown.json[0]).toMatchObject({
    profiles: ['default', 'other'],
    url: place.deployment.url,
  });
  expect(shown.out).not.toContain(ann.key);

  await chmod(file, 0o644);
  expect((await run(['account', 'show'], { env })).err).toContain(
    'can be read by others (mode 644)',
  );
  await writeFile(file, '{"profiles": {"default": {"uri": "x"}}}');
  expect(await run(['account', 'show'], { env })).toMatchObject({
    code: 2,
    err: expect.stringContaining('uri'),
  });
});

test('completes commands and flags in shells', async () => {
  expect((await user(['complete', '--', 'job', 'submit', 'mktd', ''])).out).toMatch(/^pdp_bulk\t/);
  expect((await user(['complete', '--', 'user', 's'])).out).toMatch(/^show\t.*\nsuspend\t/);
  const gleaner = await createShellCommand(join(place.folder, 'bin'));
  const folder = join(place.folder, 'typing');
  await mkdir(folder);
  const script = `. <(gleaner completion bash)
    COMP_WORDS=(gleaner job list --status 'p; touch evil'); COMP_CWORD=4; _gleaner
    COMP_WORDS=(gleaner job list --status pa); COMP_CWORD=4; _gleaner; echo "\${COMPREPLY[@]}"`;
  const env = { PATH: `${gleaner.folder}:${process.env.PATH}` };
  const child = spawn('bash', ['-c', script], { cwd: folder, env });
  expect(await text(child.stdout)).toBe('partial_complete\n');
  expect(await readdir(folder)).toEqual([]);
  await gleaner.close();
});
