import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { base64Encode } from '@bufbuild/protobuf/wire';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, describe, expect, test } from 'vitest';
import {
  AccountService,
  GetAccountResponseSchema,
} from '../../gen/gleaner/account/v1/account_pb.ts';
import { FaultSchema } from '../../gen/gleaner/fault/v1/fault_pb.ts';
import { GetPcSubmittedSchema } from '../../gen/gleaner/job/v1/get_pc_pb.ts';
import {
  GetJobRequestSchema,
  JobSchema,
  JobService,
  ListJobsRequestSchema,
  ListJobsResponseSchema,
} from '../../gen/gleaner/job/v1/job_pb.ts';
import { VariantSoldSubmittedSchema } from '../../gen/gleaner/job/v1/variant_sold_pb.ts';
import { MktaService } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import {
  GrantCreditsResponseSchema,
  OperatorService,
} from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { ScheduleService } from '../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { HttpBodySchema } from '../../gen/google/api/httpbody_pb.ts';
import { services } from '../../src/contract/services.ts';
import { type ClientOptions, createGleanerClient, type GleanerClient } from './client.ts';
import type { GleanerError } from './error.ts';
import {
  frame,
  json,
  message,
  type Script,
  type ScriptedServer,
  scriptedServer,
} from './fixture/server.ts';

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
  return createGleanerClient({
    url: `${server.url}/`,
    apiKey: 'gl_1',
    clock,
    random: () => 1,
    ...options,
  });
}

afterEach(() => server?.[Symbol.asyncDispose]());

const failed = async (call: Promise<unknown>): Promise<GleanerError> =>
  call.then(
    () => expect.unreachable('it did not fail'),
    (error: GleanerError) => error,
  );

const jobId = '6b0cbe2e-7a8e-4f0c-9d3f-0a4a6f1a0001';
const submitted = { jobId, status: 'awaiting_approval', cost: 5, totalItems: 1, totalBatches: 1 };
const request = { country: 'id', items: [{ itemId: '1', shopId: '2' }] };

/** Responds with an error of Connect that has the fault as its detail. */
function fail(
  response: Parameters<Script>[2],
  status: number,
  fault: MessageInitShape<typeof FaultSchema>,
  headers: Record<string, string> = {},
) {
  const value = base64Encode(toBinary(FaultSchema, create(FaultSchema, fault)), 'std_raw');
  const details = [{ type: FaultSchema.typeName, value }];
  json(response, status, { code: 'unknown', message: 'No', details }, headers);
}

test('calls methods over Connect in the binary format, with the key', async () => {
  const gleaner = await client((_, _number, response) =>
    message(response, GetAccountResponseSchema, {
      account: { id: 'u', name: 'Ann', balance: 12n },
    }),
  );
  const { account } = await gleaner.call(AccountService.method.getAccount, {});
  expect(account).toMatchObject({ id: 'u', name: 'Ann', balance: 12n });
  expect(server.received[0]).toMatchObject({
    verb: 'POST',
    url: '/gleaner.account.v1.AccountService/GetAccount',
    headers: { authorization: 'Bearer gl_1', 'content-type': 'application/proto' },
  });
});

test('reports a repeated warning to onWarning once', async () => {
  const warnings: string[] = [];
  const gleaner = await client(
    (_, number, response) => {
      if (number === 0)
        response.setHeader('X-Gleaner-Warning', 'No origin is configured for mkta/th.');
      message(response, VariantSoldSubmittedSchema, submitted);
    },
    { onWarning: (text) => warnings.push(text) },
  );
  await gleaner.submit(MktaService.method.submitVariantSold, request);
  await gleaner.submit(MktaService.method.submitVariantSold, request);
  expect(warnings).toEqual(['No origin is configured for mkta/th.']);
});

test('sends the options of a submission as metadata, and retries a job like a submission', async () => {
  const gleaner = await client((_, number, response) =>
    number === 0
      ? message(response, VariantSoldSubmittedSchema, submitted)
      : message(response, JobSchema, { jobId }),
  );
  await gleaner.submit(MktaService.method.submitVariantSold, request, {
    maxCredits: 0,
    waitMs: 30_000,
  });
  await gleaner.submit(
    JobService.method.retryJob,
    { jobId },
    { maxCredits: 7, idempotencyKey: 'k' },
  );
  expect(server.received.map(({ headers }) => headers['gleaner-max-credits'])).toEqual(['0', '7']);
  expect(server.received.map(({ headers }) => headers['gleaner-wait'])).toEqual(['30', undefined]);
  expect(server.received[1]!.headers['idempotency-key']).toBe('k');
  await expect(gleaner.submit(JobService.method.getJob, { jobId })).rejects.toThrow(
    'does not submit a job',
  );
  const untyped = { validateOnly: true } as object;
  await expect(gleaner.submit(JobService.method.retryJob, { jobId }, untyped)).rejects.toThrow(
    'use quote()',
  );
});

test('quote() asks for a quote only, and rejects if the service returns none', async () => {
  const gleaner = await client((_, number, response) =>
    message(
      response,
      VariantSoldSubmittedSchema,
      number === 0 ? { quote: { cost: 30 } } : submitted,
    ),
  );
  const method = MktaService.method.submitVariantSold;
  expect(await gleaner.quote(method, request, { maxCredits: 9 })).toMatchObject({ cost: 30 });
  const { headers } = server.received[0]!;
  expect(headers).toMatchObject({ 'gleaner-validate-only': 'true', 'gleaner-max-credits': '9' });
  expect(headers).not.toHaveProperty('idempotency-key');
  expect(await failed(gleaner.quote(method, request))).toMatchObject({ status: -1 });
});

describe('an error', () => {
  test('lists problems by field', async () => {
    const step = (value: string | number) => ({
      step:
        typeof value === 'number'
          ? { case: 'index' as const, value }
          : { case: 'name' as const, value },
    });
    const itemId = ['body', 'items', 0, 'item_id'].map(step);
    const problems = [
      { location: itemId, message: 'Field required', type: 'missing' },
      { location: itemId, message: 'Too short', type: 'string_too_short' },
      { location: [step('body')], message: 'Bad', type: 'value_error' },
    ];
    const gleaner = await client((_, _number, response) =>
      fail(response, 400, { code: 'invalid', problems }, { 'x-request-id': 'r1' }),
    );
    const error = await failed(gleaner.submit(MktaService.method.submitVariantSold, request));
    expect(error).toMatchObject({
      name: 'GleanerError',
      status: 422,
      code: 'invalid',
      requestId: 'r1',
    });
    expect(error.problems[0]).toEqual({
      loc: ['body', 'items', 0, 'item_id'],
      msg: 'Field required',
      type: 'missing',
    });
    expect([...error.fields]).toEqual([
      ['items.0.item_id', ['Field required', 'Too short']],
      ['body', ['Bad']],
    ]);
  });

  test('has the missing credits', async () => {
    const quota = { required: 10n, current: 3n, shortfall: 7n };
    const gleaner = await client((_, _number, response) =>
      fail(response, 400, { code: 'insufficient_credits', quota }),
    );
    const error = await failed(gleaner.submit(MktaService.method.submitVariantSold, request));
    expect(error).toMatchObject({
      status: 402,
      detail: 'No',
      required: 10,
      current: 3,
      shortfall: 7,
    });
    expect(server.received).toHaveLength(1);
  });

  test('keeps the REST error body of a file link', async () => {
    const body = { detail: 'The link has expired', code: 'link_invalid', request_id: 'r1' };
    const gleaner = await client((_, _number, response) => json(response, 403, body));
    expect(await failed(gleaner.open('/files/1'))).toMatchObject({
      status: 403,
      code: 'link_invalid',
      detail: 'The link has expired',
    });
  });

  test('is a GleanerError for an HTML page of a proxy and for an unexpected response', async () => {
    const gleaner = await client((_, number, response) =>
      number === 0
        ? response.writeHead(404).end('<h1>Nothing here</h1>\n')
        : response.writeHead(200, { 'content-type': 'application/proto' }).end(Buffer.from([255])),
    );
    expect(await failed(gleaner.find(jobId))).toMatchObject({
      status: 404,
      detail: '<h1>Nothing here</h1>',
    });
    expect(await failed(gleaner.call(JobService.method.listJobs, {}))).toMatchObject({
      status: -1,
      detail: expect.stringMatching(/^ListJobs: the response is not as the contract says: /),
    });
  });

  test('is a broken connection if a response ends early', async () => {
    const gleaner = await client(
      (_, _number, response) => {
        response.writeHead(200, { 'content-type': 'application/proto', 'content-length': '100' });
        response.write('part', () => response.socket!.end());
      },
      { maxAttempts: 1 },
    );
    expect(await failed(gleaner.find(jobId))).toMatchObject({ status: 0 });
  });
});

describe('retries', () => {
  test('happen after 429, 502, 503, 504 and a broken connection of a read', async () => {
    const gleaner = await client((_, number, response) => {
      if (number === 0) fail(response, 429, { code: 'rate_limited', retryAfterSeconds: 3 });
      else if (number === 1) fail(response, 503, { code: 'unavailable' });
      else if (number === 2) response.destroy();
      else if (number === 3) response.writeHead(504).end('Gateway Time-out');
      else message(response, ListJobsResponseSchema, {});
    });
    expect((await gleaner.call(JobService.method.listJobs, {})).jobs).toEqual([]);
    expect(slept).toEqual([3000, 500, 1000, 2000]);
  });

  test('sends one idempotency key with all retries of a submission', async () => {
    const gleaner = await client((_, number, response) =>
      number < 2 ? response.destroy() : message(response, VariantSoldSubmittedSchema, submitted),
    );
    const { jobId: id, response } = await gleaner.submit(
      MktaService.method.submitVariantSold,
      request,
    );
    expect([id, response.cost]).toEqual([jobId, 5]);
    const keys = server.received.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(new Set(keys).size).toBe(1);
    expect(keys).toHaveLength(3);
  });

  test.each([
    [
      'a change without a key',
      { code: 'unavailable' },
      502,
      (gleaner: ReturnType<typeof createGleanerClient>) =>
        gleaner.call(AccountService.method.createApiKey, { name: 'a' }),
    ],
    [
      'a malformed request',
      { code: 'malformed' },
      400,
      (gleaner: ReturnType<typeof createGleanerClient>) => gleaner.find(jobId),
    ],
    [
      'an internal error',
      { code: 'internal' },
      500,
      (gleaner: ReturnType<typeof createGleanerClient>) => gleaner.find(jobId),
    ],
  ])('do not follow %s', async (_, fault, status, call) => {
    const gleaner = await client((_received, _number, response) => fail(response, 500, fault));
    expect(await failed(call(gleaner))).toMatchObject({ status, detail: 'No' });
    expect(server.received).toHaveLength(1);
  });

  test('repeat a change with a key, under this key', async () => {
    const gleaner = await client((_, number, response) =>
      number === 0
        ? response.destroy()
        : message(response, GrantCreditsResponseSchema, { balance: 7n }),
    );
    const granted = { userId: jobId, amount: 7n };
    const options = { idempotencyKey: 'k' };
    expect(await gleaner.call(OperatorService.method.grantCredits, granted, options)).toMatchObject(
      {
        balance: 7n,
      },
    );
    expect(server.received.map(({ headers }) => headers['idempotency-key'])).toEqual(['k', 'k']);
  });

  test('stop after the maximum number of attempts, with an error that names the address', async () => {
    const gleaner = await client((_, _number, response) => response.destroy(), { maxAttempts: 2 });
    const error = await failed(gleaner.find(jobId));
    expect(error.status).toBe(0);
    expect(error.message).toContain(`${server.url} does not respond: `);
    expect(server.received).toHaveLength(2);
  });

  test('repeat a submission whose first request is in progress, but not one whose key was used for another', async () => {
    const active = await client((_, number, response) => {
      if (number === 0) fail(response, 409, { code: 'conflict' }, { 'retry-after': '15' });
      else message(response, VariantSoldSubmittedSchema, submitted);
    });
    expect((await active.submit(MktaService.method.submitVariantSold, request)).jobId).toBe(jobId);
    expect(slept).toEqual([15_000]);
    await server[Symbol.asyncDispose]();
    const used = await client((_, _number, response) => fail(response, 409, { code: 'conflict' }));
    const error = await failed(used.submit(MktaService.method.submitVariantSold, request));
    expect(error.status).toBe(409);
    expect(server.received).toHaveLength(1);
  });

  test('end if Retry-After is longer than two minutes', async () => {
    const gleaner = await client((_, _number, response) =>
      fail(response, 429, { code: 'rate_limited' }, { 'retry-after': '3600' }),
    );
    expect(await failed(gleaner.find(jobId))).toMatchObject({
      status: 429,
      retryAfterMs: 3_600_000,
    });
    expect(server.received).toHaveLength(1);
  });

  test('end when the signal aborts', async () => {
    const stop = new AbortController();
    const gleaner = await client(() => stop.abort(new Error('enough')));
    await expect(gleaner.find(jobId, { signal: stop.signal })).rejects.toThrow('enough');
  });

  test.each<[string, (gleaner: GleanerClient) => Promise<unknown>]>([
    ['call', (gleaner) => gleaner.find(jobId)],
    ['stream', (gleaner) => gleaner.stream(JobService.method.streamResults, { jobId })],
    [
      'pages',
      (gleaner) => gleaner.pages(JobService.method.listJobs, {})[Symbol.asyncIterator]().next(),
    ],
    ['submit', (gleaner) => gleaner.submit(MktaService.method.submitVariantSold, request)],
    ['quote', (gleaner) => gleaner.quote(MktaService.method.submitVariantSold, request)],
    ['wait', (gleaner) => gleaner.wait(jobId)],
    ['open', (gleaner) => gleaner.open('/v1/files/1')],
    ['downloadAll', (gleaner) => gleaner.downloadAll(jobId, 'nowhere')],
  ])('end when the signal of the client aborts: %s()', async (_name, call) => {
    const stop = new AbortController();
    const gleaner = await client(() => stop.abort(new Error('enough')), { signal: stop.signal });
    await expect(call(gleaner)).rejects.toThrow('enough');
  });

  test('end at the timeout', async () => {
    const gleaner = await client(() => {}, { maxAttempts: 1, timeoutMs: 20 });
    expect(await failed(gleaner.find(jobId))).toMatchObject({
      status: 0,
      detail: `${server.url} does not respond: no response within 0.02 s`,
    });
  });
});

test('wait() passes its wait as metadata, and allows for it in the timeout', async () => {
  const gleaner = await client((_, number, response) => {
    const job = { jobId, status: number === 0 ? 'processing' : 'completed', ended: number > 0 };
    message(response, JobSchema, job);
  });
  expect((await gleaner.wait(jobId)).status).toBe('completed');
  expect(server.received.map(({ headers }) => headers['gleaner-wait'])).toEqual(['0', '30']);
});

test('submit() looks up the job of a task by its number', async () => {
  const gleaner = await client(({ url, body }, _number, response) => {
    if (url.endsWith('/SubmitGetPc'))
      message(response, GetPcSubmittedSchema, { taskId: 12, cost: 8 });
    else {
      expect(fromBinary(GetJobRequestSchema, body)).toMatchObject({ jobId: '12' });
      message(response, JobSchema, { jobId, taskId: 12n });
    }
  });
  const item = { region: 'id', itemId: '1', shopId: '2' };
  expect((await gleaner.submit(MktaService.method.submitGetPc, item)).jobId).toBe(jobId);
});

test('pages() requests one page after the other', async () => {
  const tokens: string[] = [];
  const gleaner = await client(({ body }, _number, response) => {
    const { pageToken, status } = fromBinary(ListJobsRequestSchema, body);
    tokens.push(`${status} ${pageToken}`);
    message(
      response,
      ListJobsResponseSchema,
      pageToken === 'b'
        ? { jobs: [{ jobId: '2' }] }
        : { jobs: [{ jobId: '1' }], nextPageToken: 'b' },
    );
  });
  const ids: string[] = [];
  for await (const { jobs } of gleaner.pages(JobService.method.listJobs, { status: 'failed' }))
    ids.push(...jobs.map((job) => job.jobId));
  expect(ids).toEqual(['1', '2']);
  expect(tokens).toEqual(['failed ', 'failed b']);
});

describe('stream()', () => {
  const piece = (data: Uint8Array) =>
    frame(
      toBinary(
        HttpBodySchema,
        create(HttpBodySchema, { contentType: 'application/x-ndjson', data }),
      ),
    );
  const start = (response: Parameters<Script>[2]) =>
    response.writeHead(200, { 'content-type': 'application/connect+proto' });

  test('returns lines regardless of message boundaries', async () => {
    const bytes = Buffer.from('{"a":"ä"}\n{"b":1}\n{"c":2}');
    const gleaner = await client((_, _number, response) => {
      start(response).write(piece(bytes.subarray(0, 7)));
      response.write(piece(bytes.subarray(7)));
      response.end(frame(Buffer.from('{}'), true));
    });
    const stream = await gleaner.stream(JobService.method.streamResults, { jobId });
    expect(stream.contentType).toBe('application/x-ndjson');
    expect(await Array.fromAsync(stream.lines())).toEqual(['{"a":"ä"}', '{"b":1}', '{"c":2}']);
  });

  test('returns lines of CSV without their line ends, also across messages', async () => {
    const gleaner = await client((_, _number, response) => {
      start(response).write(piece(Buffer.from('id,title\r\n1,"a"\r')));
      response.write(piece(Buffer.from('\n2,\r\n')));
      response.end(frame(Buffer.from('{}'), true));
    });
    const stream = await gleaner.stream(JobService.method.exportRecords, { jobId, format: 'csv' });
    expect(await Array.fromAsync(stream.lines())).toEqual(['id,title', '1,"a"', '2,']);
  });

  test('rejects during reading if the connection breaks', async () => {
    const gleaner = await client((_, _number, response) => {
      start(response).write(piece(Buffer.from('one\ntwo')), () => response.socket!.end());
    });
    const stream = await gleaner.stream(JobService.method.streamResults, { jobId });
    expect(await failed(Array.fromAsync(stream.lines()))).toMatchObject({ status: 0 });
  });

  test('rejects with the error that ends the stream', async () => {
    const value = base64Encode(
      toBinary(FaultSchema, create(FaultSchema, { code: 'not_found' })),
      'std_raw',
    );
    const error = {
      code: 'not_found',
      message: 'No job',
      details: [{ type: FaultSchema.typeName, value }],
    };
    const gleaner = await client((_, _number, response) => {
      start(response).end(frame(Buffer.from(JSON.stringify({ error })), true));
    });
    expect(await failed(gleaner.stream(JobService.method.streamResults, { jobId }))).toMatchObject({
      status: 404,
      code: 'not_found',
      detail: 'No job',
    });
  });
});

describe('open()', () => {
  test('sends the key to the service itself, and to other hosts only after 401', async () => {
    const gleaner = await client((_, _number, response) => response.end('file'));
    await gleaner.open('/files/1');
    expect(server.received[0]!.headers.authorization).toBe('Bearer gl_1');
    await using other = await scriptedServer(({ url, headers }, _number, response) =>
      url === '/guarded' && headers.authorization === undefined
        ? json(response, 401, { detail: 'A key is missing' })
        : response.end('file'),
    );
    await gleaner.open(`${other.url}/signed`);
    await gleaner.open(`${other.url}/guarded`);
    expect(other.received.map(({ url, headers }) => [url, headers.authorization])).toEqual([
      ['/signed', undefined],
      ['/guarded', undefined],
      ['/guarded', 'Bearer gl_1'],
    ]);
  });
});

test.each(['gleaner', 'ftp://gleaner.test'])(
  'createGleanerClient() refuses the address %s',
  (url) => {
    expect(() => createGleanerClient({ url, apiKey: 'k' })).toThrow(TypeError);
  },
);

test.each([undefined, '', ' \n'])('createGleanerClient() refuses the key %j', (apiKey) => {
  const create = () =>
    createGleanerClient({ url: 'http://gleaner.test', apiKey: apiKey as string });
  expect(create).toThrow('The API key is missing');
});

test('the package exports every service of the contract but that of browser sessions', async () => {
  const exported = Object.values(await import('./index.ts'));
  const missing = services.filter((service) => !exported.includes(service as never));
  expect(missing.map(({ name }) => name)).toEqual(['SessionService']);
});

describe('a request that spells a field in another way', () => {
  test.each([
    [{ country: 'id', items: [{ item_id: '1', shopId: '2' }] }, 'items[0].item_id', 'itemId'],
    [{ Country: 'id', items: [] }, 'Country', 'country'],
  ])('is refused with a TypeError: %j', async (wrong, field, meant) => {
    const gleaner = await client(() => expect.unreachable('it was sent'));
    const call = gleaner.submit(MktaService.method.submitVariantSold, wrong as never);
    await expect(call).rejects.toThrow(TypeError);
    await expect(call).rejects.toThrow(`${field} is written ${meant} in `);
  });

  test('is refused for an object in place of JSON text', async () => {
    const gleaner = await client(() => expect.unreachable('it was sent'));
    const call = gleaner.call(ScheduleService.method.createSchedule, {
      name: 'a',
      request: { items: [] } as never,
    });
    await expect(call).rejects.toThrow('request takes a string. Pass JSON as text');
  });

  test('is not one of messages, of times, or of other members', async () => {
    const gleaner = await client((_request, _body, response) => message(response, JobSchema, {}));
    const startAt = timestampFromMs(0);
    const unknown = { limit: 5 };
    const schedule = gleaner.call(ScheduleService.method.createSchedule, {
      name: 'a',
      startAt,
      ...unknown,
    });
    await expect(schedule).resolves.toBeDefined();
    const job = gleaner.call(JobService.method.getJob, create(GetJobRequestSchema, { jobId }));
    await expect(job).resolves.toBeDefined();
  });
});
