import { PassThrough } from 'node:stream';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/run.ts';
import { openSandboxFixture, type SandboxFixture } from '../sandbox/fixture.ts';
import { type Engines, embedded } from '../support/engines/engines.ts';
import { main } from '../support/service/service.ts';

let fixture: SandboxFixture;
beforeAll(async () => {
  fixture = await openSandboxFixture(false, (await embedded.open()) as Engines);
});
afterAll(() => fixture?.stop());

const pages = (...digits: string[]) => ({
  items: digits.map((end) => ({ shop_domain: 'toko-7', product_key: `barang-${end}` })),
});

/** A connection of the official client. */
interface Connection {
  client: Client;
  /** Calls a tool and returns its JSON result; throws one that is an error. */
  // biome-ignore lint/suspicious/noExplicitAny: results of every shape.
  call(name: string, given?: Record<string, unknown>): Promise<any>;
}

async function use<T>(client: Client, run: (connection: Connection) => Promise<T>): Promise<T> {
  try {
    return await run({
      client,
      async call(name, given = {}) {
        const result = await client.callTool({ name, arguments: given });
        const [first] = result.content as { type: string; text: string }[];
        const value = JSON.parse(first!.text);
        if (result.isError) throw Object.assign(new Error(value.message), value);
        return value;
      },
    });
  } finally {
    await client.close();
  }
}

async function overHttp<T>(
  key: string,
  run: (connection: Connection) => Promise<T>,
  query = '',
): Promise<T> {
  const client = new Client({ name: 'test', version: '1' });
  const headers = { authorization: `Bearer ${key}` };
  const url = new URL(`${fixture.deployment.url}/mcp${query}`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return use(client, run);
}

/** Runs `gleaner mcp` in the process of the test. */
async function overStdio<T>(key: string, run: (connection: Connection) => Promise<T>): Promise<T> {
  const client = new Client({ name: 'test', version: '1' });
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const exited = runCli(['mcp'], {
    stdin,
    stdout,
    stderr: process.stderr,
    env: stdioEnvironment(key),
    folder: '/nonexistent',
    home: '/nonexistent',
    signal: new AbortController().signal,
  });
  // A server's transport works as a client's transport if its streams are swapped.
  await client.connect(new StdioServerTransport(stdout, stdin));
  try {
    return await use(client, run);
  } finally {
    stdin.end();
    expect(await exited).toBe(0);
  }
}

const stdioEnvironment = (key: string) => ({
  GLEANER_URL: fixture.deployment.url,
  GLEANER_API_KEY: key,
});

/** Runs `gleaner mcp` in its own process, as the program of an agent does. */
async function overProcess<T>(
  key: string,
  flags: string[],
  run: (connection: Connection) => Promise<T>,
): Promise<T> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [main, 'mcp', ...flags],
    env: { ...stdioEnvironment(key), HOME: '/nonexistent' },
  });
  await client.connect(transport);
  return use(client, run);
}

describe.each([
  ['streamable HTTP', overHttp],
  ['stdio', overStdio],
] as const)('over %s', (_name, connect) => {
  test('lists tools whose schemas are valid and complete', () =>
    connect(fixture.tester.key, async ({ client }) => {
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).toEqual(
        expect.arrayContaining([
          'submit_mktb_pdp_bulk',
          'get_job',
          'read_results',
          'get_account',
          'get_price_list',
        ]),
      );
      expect(new Set(names).size).toBe(names.length);
      expect(names.length).toBeLessThanOrEqual(20);
      // What a model reads before its first call.
      expect(JSON.stringify(tools).length).toBeLessThan(38_000);
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      for (const { name, inputSchema } of tools) {
        expect(name).toMatch(/^[a-z][a-z0-9_]{2,63}$/);
        ajv.compile(inputSchema);
      }
      const { inputSchema } = tools.find(({ name }) => name === 'submit_mktb_pdp_bulk')!;
      const isValid = ajv.compile(inputSchema);
      expect(isValid(pages('1'))).toBe(true);
      expect(isValid({ items: [{ shop_domain: 'toko-7' }] })).toBe(false);
    }));

  test('describes and calls the methods without a tool of their own by one tool', () =>
    connect(fixture.tester.key, async ({ client, call }) => {
      const { tools } = await client.listTools();
      const { inputSchema } = tools.find(({ name }) => name === 'call_method')!;
      const { method } = inputSchema.properties as { method: { enum: string[] } };
      expect(method.enum).toEqual(
        expect.arrayContaining(['submit_mktb_search_bulk', 'create_schedule', 'list_rules']),
      );
      expect(method.enum.filter((name) => tools.some((tool) => tool.name === name))).toEqual([]);
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      for (const name of method.enum) {
        const described = await call('call_method', { method: name });
        expect(described.description, name).not.toBe('');
        ajv.compile(described.arguments);
      }
      expect(await call('call_method', { method: 'list_rules', arguments: {} })).toEqual({
        rules: [],
      });
      const problemsOf = (given: Record<string, unknown>) =>
        call('call_method', given).then(
          () => [],
          (error) => error.problems.map(({ loc }: { loc: string[] }) => loc.join('.')),
        );
      expect(await problemsOf({ method: 'nope' })).toEqual(['arguments.method']);
      expect(await problemsOf({ method: 'list_rules', arguments: 7 })).toEqual([
        'arguments.arguments',
      ]);
      expect(await problemsOf({ method: 'list_rules', page_size: 1 })).toEqual([
        'arguments.page_size',
      ]);
      expect(await problemsOf({ method: 'get_rule', arguments: { rule_id: 7 } })).toEqual([
        'arguments.rule_id',
      ]);
    }));

  test('submits a job, waits for it, and reads its records page by page', () =>
    connect(fixture.tester.key, async ({ call }) => {
      const { job_id: id } = await call('submit_mktb_pdp_bulk', pages('101', '102', '800', '103'));
      let job = await call('get_job', { job_id: id, wait_seconds: 20 });
      while (!job.ended) job = await call('get_job', { job_id: id, wait_seconds: 20 });
      expect(job).toMatchObject({
        status: 'partial_complete',
        success: 3,
        failed: 1,
        mode: 'test',
      });
      const first = await call('read_results', { job_id: id, limit: 2 });
      expect(first.records.map(({ key }: { key: string }) => key)).toEqual([
        'barang-101',
        'barang-102',
      ]);
      expect(first.next_offset).toBe(2);
      const second = await call('read_results', {
        job_id: id,
        limit: 2,
        offset: first.next_offset,
      });
      expect(second).toMatchObject({ records: [{ key: 'barang-103' }], next_offset: null });
      const { faults } = await call('list_faults', { job_id: id });
      expect(faults[0].code).toBe('page_not_found');
      expect((await call('get_account')).account.mode).toBe('test');
    }));

  test('reports the progress of a job to a client that waits with a progress token', () =>
    connect(fixture.tester.key, async ({ client, call }) => {
      const { job_id: id } = await call('submit_mktb_pdp_bulk', pages('111', '112', '113'));
      const reported: { progress: number; total?: number | undefined }[] = [];
      let job: { ended?: boolean } = {};
      while (!job.ended) {
        const given = { name: 'get_job', arguments: { job_id: id, wait_seconds: 20 } };
        const result = await client.callTool(given, {
          onprogress: (update) => void reported.push(update),
        });
        job = JSON.parse((result.content as { text: string }[])[0]!.text);
      }
      expect(reported.length).toBeGreaterThan(0);
      expect(reported.every(({ total }) => total === 3)).toBe(true);
      expect(reported.at(-1)).toMatchObject({ progress: 3 });
      expect(job).toMatchObject({ status: 'completed', success: 3 });
    }));

  test('a wait with a progress token ends when it expires', () =>
    connect(fixture.user.key, async ({ client, call }) => {
      const items = [{ item_id: '20000000992', shop_id: '7001' }];
      const { job_id: id } = await call('submit_mkta_variant_sold', { country: 'sg', items });
      const reported: unknown[] = [];
      const given = { name: 'get_job', arguments: { job_id: id, wait_seconds: 1 } };
      const result = await client.callTool(given, {
        onprogress: (update) => void reported.push(update),
      });
      expect(JSON.parse((result.content as { text: string }[])[0]!.text).status).toBe(
        'awaiting_approval',
      );
      expect(reported).toMatchObject([{ progress: 0, total: 1 }]);
    }));

  test('describes the tools without terms of the REST API', () =>
    connect(fixture.tester.key, async ({ client }) => {
      const { tools } = await client.listTools();
      for (const { description } of tools)
        expect(description).not.toMatch(/endpoint \d|Idempotency-Key|\/v1/);
      const about = (name: string) => tools.find((tool) => tool.name === name);
      expect(about('submit_mktb_pdp_bulk')?.description).toMatch(
        /^Jobs on Tokopedia\. Collects product pages/,
      );
      expect(about('submit_mktb_pdp_bulk')?.annotations).toMatchObject({ destructiveHint: false });
      expect(about('cancel_job')?.annotations).toMatchObject({
        readOnlyHint: false,
        destructiveHint: true,
      });
    }));

  test('refuses a list that is too large for a model, and says how to request less', () =>
    connect(fixture.tester.key, async ({ call }) => {
      const digits = Array.from({ length: 50 }, (_, index) => String(1000 + index));
      const { job_id: id } = await call('submit_mktb_pdp_bulk', pages(...digits));
      let job = await call('get_job', { job_id: id, wait_seconds: 20 });
      while (!job.ended) job = await call('get_job', { job_id: id, wait_seconds: 20 });
      await expect(call('list_records', { job_id: id })).rejects.toMatchObject({
        code: 'page_too_large',
        message: expect.stringContaining('Request less with column and page_size.'),
      });
      const { records } = await call('list_records', { job_id: id, column: ['unit_key'] });
      expect(records).toHaveLength(50);
      expect(records[0].item.title).toContain('barang-1000');
      const page = await call('read_results', { job_id: id, limit: 100 });
      expect(JSON.stringify(page).length).toBeLessThan(62_000);
      expect(page.next_offset).toBe(page.records.length);
    }));

  test('a job that awaits approval says so', () =>
    connect(fixture.tester.key, async ({ call }) => {
      const items = [{ item_id: '20000000991', shop_id: '7001' }];
      const submitted = await call('submit_mkta_variant_sold', { country: 'sg', items });
      expect(submitted.status).toBe('awaiting_approval');
      const { status } = await call('get_job', { job_id: submitted.job_id, wait_seconds: 0 });
      expect(status).toBe('awaiting_approval');
      expect((await call('cancel_job', { job_id: submitted.job_id })).status).toBe('rejected');
    }));

  test('quotes a submission without creating a job', () =>
    connect(fixture.user.key, async ({ call }) => {
      const jobs = async () => (await call('list_jobs', { page_size: 100 })).jobs.length;
      const before = await jobs();
      const quote = await call('submit_mktb_pdp_bulk', { ...pages('1', '2'), validate_only: true });
      expect(quote).toMatchObject({ accepted: true, units: 2, cost: 10, needs_approval: false });
      expect(await jobs()).toBe(before);
    }));

  test('repeats a submission under its idempotency key', () =>
    connect(fixture.tester.key, async ({ call }) => {
      const request = { ...pages('104'), idempotency_key: `key-${crypto.randomUUID()}` };
      const { job_id: id } = await call('submit_mktb_pdp_bulk', request);
      expect((await call('submit_mktb_pdp_bulk', request)).job_id).toBe(id);
    }));

  test('names each invalid argument', () =>
    connect(fixture.tester.key, async ({ call }) => {
      const problems = (name: string, given: Record<string, unknown>) =>
        call(name, given).then(
          () => null,
          (error) =>
            error.problems?.map(({ loc }: { loc: unknown[] }) => loc.join('.')) ?? error.code,
        );
      expect(
        await problems('submit_mktb_pdp_bulk', {
          items: [{ shop_domain: 7 }],
          max_credits: -1,
          x: 1,
        }),
      ).toEqual(
        expect.arrayContaining([
          'arguments.max_credits',
          'arguments.items.0.product_key',
          'arguments.items.0.shop_domain',
          'arguments.x',
        ]),
      );
      await expect(
        call('submit_mkte_pdp_bulk', { items: [{ asin: 'x', country: 'de' }] }),
      ).rejects.toMatchObject({ message: expect.stringMatching(/^items\[0\]\.asin: /) });
      expect(await problems('get_job', { job_id: 'x', wait_seconds: 1000 })).toContain(
        'arguments.wait_seconds',
      );
      expect(await problems('read_results', { job_id: 7 })).toEqual(['arguments.job_id']);
      // A problem found by the service, with the location in the tool's arguments.
      expect(await problems('get_job', { job_id: 'x' })).toEqual(['arguments.job_id']);
      expect(await problems('read_results', { job_id: 'x', limit: 1e9 })).toEqual([
        'arguments.limit',
      ]);
      for (const name of ['__proto__', 'constructor', 'create_api_key', 'delete_files', ''])
        expect(await problems(name, {})).toBe('not_found');
    }));

  test("another user's job is not found", () =>
    connect(fixture.tester.key, async ({ call }) => {
      const id = await fixture.submit(fixture.user, '/v1/mktb/pdp/bulk/submit', pages('105'));
      for (const name of ['get_job', 'read_results', 'list_units', 'cancel_job'])
        await expect(call(name, { job_id: id })).rejects.toMatchObject({ code: 'not_found' });
    }));
});

test('a session over stdio cannot spend more than its budget', async () => {
  const before = await fixture.api.balance(fixture.user);
  await overProcess(fixture.user.key, ['--budget', '12'], async ({ client, call }) => {
    // The runs of a schedule are charged after the session.
    const { tools } = await client.listTools();
    expect(JSON.stringify(tools)).not.toMatch(/"(?:create|run|resume)_/);
    await expect(
      call('call_method', { method: 'run_schedule', arguments: {} }),
    ).rejects.toMatchObject({
      code: 'invalid',
    });
    await call('submit_mktb_pdp_bulk', { ...pages('200'), validate_only: true });
    const outcomes = await Promise.allSettled(
      ['201', '202', '203', '204'].map((digits) => call('submit_mktb_pdp_bulk', pages(digits))),
    );
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ]);
    await expect(
      call('submit_mktb_pdp_bulk', { ...pages('205'), max_credits: 100 }),
    ).rejects.toThrow(/2/);
  });
  expect(before - (await fixture.api.balance(fixture.user))).toBe(10);
});

test('the address over HTTP can limit the cost of each job', () =>
  overHttp(
    fixture.user.key,
    async ({ call }) => {
      await expect(call('submit_mktb_pdp_bulk', pages('301', '302'))).rejects.toMatchObject({
        code: 'max_credits_exceeded',
      });
      expect((await call('submit_mktb_pdp_bulk', { ...pages('301'), max_credits: 50 })).cost).toBe(
        5,
      );
    },
    '?max_credits=5',
  ));

test('a key with the scope read has no right to submit', async () => {
  const { apiKey } = await fixture.api.operator('CreateApiKey', {
    user_id: fixture.user.id,
    name: 'reader',
    scopes: ['read'],
  });
  await overHttp(apiKey, async ({ call }) => {
    await expect(call('submit_mktb_pdp_bulk', pages('1'))).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect((await call('list_jobs')).jobs).toBeDefined();
  });
});
