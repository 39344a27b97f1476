import { create, toBinary } from '@bufbuild/protobuf';
import { base64Encode } from '@bufbuild/protobuf/wire';
import { afterEach, describe, expect, test } from 'vitest';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { FaultSchema } from '../../gen/gleaner/fault/v1/fault_pb.ts';
import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { MktaService } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { type ClientOptions, createGleanerClient } from './client.ts';
import type { GleanerError } from './error.ts';
import { json, type Script, type ScriptedServer, scriptedServer } from './fixture/server.ts';

let server: ScriptedServer;
let slept: number[] = [];

async function client(script: Script, options: Partial<ClientOptions> = {}) {
  server = await scriptedServer(script);
  slept = [];
  const clock = {
    now: () => 0,
    sleep: async (ms: number) => {
      slept.push(ms);
    },
  };
  return createGleanerClient({ url: `${server.url}/`, apiKey: 'gl_1', clock, random: () => 1, ...options });
}

afterEach(() => server?.[Symbol.asyncDispose]());

const failed = async (call: Promise<unknown>): Promise<GleanerError> =>
  call.then(
    () => expect.unreachable('it did not fail'),
    (error: GleanerError) => error,
  );

const jobId = '6b0cbe2e-7a8e-4f0c-9d3f-0a4a6f1a0001';
const submitted = { job_id: jobId, status: 'awaiting_approval', cost: 5, total_items: 1, total_batches: 1 };
const request = { country: 'id', items: [{ itemId: '1', shopId: '2' }] };

test('an answer is a message of the contract', async () => {
  const gleaner = await client((_, _number, response) =>
    json(response, 200, { account: { id: 'u', name: 'Ann', balance: 12, unheard_of: 1 } }),
  );
  const { account } = await gleaner.call(AccountService.method.getAccount, {});
  expect(account).toMatchObject({ id: 'u', name: 'Ann', balance: 12n });
  expect(server.got[0]).toMatchObject({
    verb: 'GET',
    url: '/v1/account',
    headers: { authorization: 'Bearer gl_1' },
  });
});

test('methods without a path are called as Connect', async () => {
  const gleaner = await client((_, _number, response) => json(response, 200, { balance: '7' }));
  const { balance } = await gleaner.call(OperatorService.method.grantCredits, { userId: 'u', amount: 7n });
  expect(balance).toBe(7n);
  expect(server.got[0]).toMatchObject({
    url: '/gleaner.operator.v1.OperatorService/GrantCredits',
    body: '{"userId":"u","amount":"7"}',
  });
});

describe('an error', () => {
  test('lists problems by field', async () => {
    const detail = [
      { loc: ['body', 'items', 0, 'item_id'], msg: 'Field required', type: 'missing' },
      { loc: ['body', 'items', 0, 'item_id'], msg: 'Too short', type: 'string_too_short' },
      { loc: ['body'], msg: 'Bad', type: 'value_error' },
    ];
    const gleaner = await client((_, _number, response) =>
      json(response, 422, { detail }, { 'x-request-id': 'r1' }),
    );
    const error = await failed(gleaner.submit(MktaService.method.submitVariantSold, request));
    expect(error).toMatchObject({ name: 'GleanerError', status: 422, problems: detail, requestId: 'r1' });
    expect(error.message).toBe('items.0.item_id: Field required, and 2 more');
    expect([...error.fields]).toEqual([
      ['items.0.item_id', ['Field required', 'Too short']],
      ['body', ['Bad']],
    ]);
  });

  test('says how many credits are missing', async () => {
    const body = { detail: 'Too few credits', required: 10, current: 3, shortfall: 7 };
    const gleaner = await client((_, _number, response) => json(response, 402, body));
    const error = await failed(gleaner.submit(MktaService.method.submitVariantSold, request));
    expect(error).toMatchObject({ status: 402, ...body });
    expect(server.got).toHaveLength(1);
  });

  test('of Connect is what the same one of REST is', async () => {
    const value = create(FaultSchema, {
      code: 'insufficient_credits',
      quota: { required: 10n, current: 3n, shortfall: 7n },
    });
    const details = [
      { type: FaultSchema.typeName, value: base64Encode(toBinary(FaultSchema, value), 'std_raw') },
    ];
    const gleaner = await client((_, _number, response) =>
      json(response, 400, { code: 'failed_precondition', message: 'Too few credits', details }),
    );
    const error = await failed(gleaner.call(OperatorService.method.approveJob, { jobId }));
    expect(error).toMatchObject({ status: 402, detail: 'Too few credits', required: 10, shortfall: 7 });
  });

  test('is a GleanerError for a page of a proxy, and for an answer of another shape', async () => {
    const gleaner = await client((_, number, response) =>
      number === 0 ? response.writeHead(404).end('<h1>Nothing here</h1>\n') : response.end('{"jobs":3}'),
    );
    expect(await failed(gleaner.find(jobId))).toMatchObject({ status: 404, detail: '<h1>Nothing here</h1>' });
    expect(await failed(gleaner.call(JobService.method.listJobs, {}))).toMatchObject({
      status: -1,
      detail: 'ListJobs: the answer is not what it should be: jobs: expected a list, not 3',
    });
  });
});

describe('tries', () => {
  test('come again after 429, 502, 503 and a broken connection, for a GET', async () => {
    const gleaner = await client((_, number, response) => {
      if (number === 0) json(response, 429, { detail: 'Too many' }, { 'retry-after': '3' });
      else if (number === 1) json(response, 502, { detail: 'The store does not answer' });
      else if (number === 2) response.destroy();
      else if (number === 3) json(response, 503, { detail: 'Starting' });
      else json(response, 200, { jobs: [] });
    });
    expect((await gleaner.call(JobService.method.listJobs, {})).jobs).toEqual([]);
    expect(slept).toEqual([3000, 500, 1000, 2000]);
  });

  test('of a submit have one idempotency key', async () => {
    const gleaner = await client((_, number, response) =>
      number < 2 ? response.destroy() : json(response, 202, submitted),
    );
    const { jobId: id, answer } = await gleaner.submit(MktaService.method.submitVariantSold, request);
    expect([id, answer.cost]).toEqual([jobId, 5]);
    const keys = server.got.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(keys).size).toBe(1);
    expect(keys).toHaveLength(3);
  });

  test.each([
    [
      'a change without a key',
      502,
      (gleaner: ReturnType<typeof createGleanerClient>) =>
        gleaner.call(AccountService.method.createApiKey, { name: 'a' }),
    ],
    [
      'a request that is wrong',
      400,
      (gleaner: ReturnType<typeof createGleanerClient>) => gleaner.find(jobId),
    ],
    ['a fault of the service', 500, (gleaner: ReturnType<typeof createGleanerClient>) => gleaner.find(jobId)],
  ])('do not come again after %s', async (_, status, call) => {
    const gleaner = await client((_got, _number, response) => json(response, status, { detail: 'No' }));
    expect(await failed(call(gleaner))).toMatchObject({ status, detail: 'No' });
    expect(server.got).toHaveLength(1);
  });

  test('end, and say who does not answer', async () => {
    const gleaner = await client((_, _number, response) => response.destroy(), { tries: 2 });
    const error = await failed(gleaner.find(jobId));
    expect(error.status).toBe(0);
    expect(error.message).toContain(`${server.url} does not answer: `);
    expect(server.got).toHaveLength(2);
  });

  test('repeats a submit whose first request is under way, and not one whose key was used for another', async () => {
    const underWay = await client((_, number, response) => {
      if (number === 0) json(response, 409, { detail: 'under way' }, { 'retry-after': '15' });
      else json(response, 202, submitted);
    });
    expect((await underWay.submit(MktaService.method.submitVariantSold, request)).jobId).toBe(
      submitted.job_id,
    );
    expect(slept).toEqual([15_000]);
    await server[Symbol.asyncDispose]();
    const used = await client((_, _number, response) => json(response, 409, { detail: 'used' }));
    const error = await failed(used.submit(MktaService.method.submitVariantSold, request));
    expect(error.status).toBe(409);
    expect(server.got).toHaveLength(1);
  });

  test('end where the service wants to be left alone for longer than anybody waits', async () => {
    const gleaner = await client((_, _number, response) =>
      json(response, 429, { detail: 'Too many' }, { 'retry-after': '3600' }),
    );
    expect(await failed(gleaner.find(jobId))).toMatchObject({ status: 429, retryAfterMs: 3_600_000 });
    expect(server.got).toHaveLength(1);
  });

  test('end with their signal', async () => {
    const stop = new AbortController();
    const gleaner = await client(() => stop.abort(new Error('enough')));
    await expect(gleaner.find(jobId, { signal: stop.signal })).rejects.toThrow('enough');
  });

  test('that get no answer in time are given up', async () => {
    const gleaner = await client(() => {}, { tries: 1, timeoutMs: 20 });
    expect(await failed(gleaner.find(jobId))).toMatchObject({
      status: 0,
      detail: `${server.url} does not answer: no answer within 0.02 s`,
    });
  });
});

test('the job of a task is looked up among its kind', async () => {
  const gleaner = await client(({ url }, _number, response) => {
    if (url.startsWith('/v1/mkta')) json(response, 202, { task_id: 12, status: 'pending', cost: 8 });
    else if (url.includes('page_token=p2')) json(response, 200, { jobs: [{ job_id: jobId, task_id: 12 }] });
    else json(response, 200, { jobs: [{ job_id: 'other', task_id: 13 }], next_page_token: 'p2' });
  });
  const { jobId: id } = await gleaner.submit(MktaService.method.submitGetPc, {
    region: 'id',
    itemId: '1',
    shopId: '2',
  });
  expect(id).toBe(jobId);
  expect(server.got[1]!.url).toBe('/v1/jobs?kind=get_pc&market=mkta&page_size=1000');
});

test('pages come one after the other', async () => {
  const gleaner = await client(({ url }, _number, response) =>
    json(
      response,
      200,
      url.includes('page_token=b')
        ? { jobs: [{ job_id: '2' }], next_page_token: '' }
        : { jobs: [{ job_id: '1' }], next_page_token: 'b' },
    ),
  );
  const ids: string[] = [];
  for await (const { jobs } of gleaner.pages(JobService.method.listJobs, { status: 'failed' }))
    ids.push(...jobs.map((job) => job.jobId));
  expect(ids).toEqual(['1', '2']);
  expect(server.got.map(({ url }) => url)).toEqual([
    '/v1/jobs?status=failed',
    '/v1/jobs?status=failed&page_token=b',
  ]);
});

test('a stream comes in lines, wherever its pieces end', async () => {
  const gleaner = await client((_, _number, response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    const bytes = Buffer.from('{"a":"ä"}\n{"b":1}\n{"c":2}');
    response.write(bytes.subarray(0, 7));
    setImmediate(() => response.end(bytes.subarray(7)));
  });
  const stream = await gleaner.stream(JobService.method.streamResults, { jobId });
  expect(stream.contentType).toBe('application/x-ndjson');
  expect(await Array.fromAsync(stream.lines())).toEqual(['{"a":"ä"}', '{"b":1}', '{"c":2}']);
});

test('a stream that breaks is an error, not an end', async () => {
  const gleaner = await client((_, _number, response) => {
    response.writeHead(200, { 'content-length': '100' });
    response.write('one\ntwo', () => response.socket!.end());
  });
  const stream = await gleaner.stream(JobService.method.streamResults, { jobId });
  expect(await failed(Array.fromAsync(stream.lines()))).toMatchObject({ status: 0 });
});

describe('the key', () => {
  test('goes to the service itself, and elsewhere only where it is asked for', async () => {
    const gleaner = await client((_, _number, response) => response.end('file'));
    await gleaner.open('/files/1');
    expect(server.got[0]!.headers.authorization).toBe('Bearer gl_1');
    await using other = await scriptedServer(({ url, headers }, _number, response) =>
      url === '/guarded' && headers.authorization === undefined
        ? json(response, 401, { detail: 'A key is missing' })
        : response.end('file'),
    );
    await gleaner.open(`${other.url}/signed`);
    await gleaner.open(`${other.url}/guarded`);
    expect(other.got.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/signed', undefined],
      ['/guarded', undefined],
      ['/guarded', 'Bearer gl_1'],
    ]);
  });
});

test.each(['gleaner', 'ftp://gleaner.test'])('the address %s is refused', (url) => {
  expect(() => createGleanerClient({ url, apiKey: 'k' })).toThrow(TypeError);
});
