import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRpcFixture, type RpcFixture } from '../../../test/support/rpc/rpc-fixture.ts';

let stage: RpcFixture;
beforeAll(async () => {
  stage = await openRpcFixture();
});
afterAll(() => stage.close());

const submit = '/gleaner.mkta.v1.MktaService/SubmitVariantSold';
const getAccount = '/gleaner.account.v1.AccountService/GetAccount';
const listUsers = '/gleaner.operator.v1.OperatorService/ListUsers';
const json = { 'content-type': 'application/json' };

const ports = () => ({
  core: stage.server.port,
  gateway: stage.gateway.port,
  forward: stage.front.port,
});

/** Sends a request whose body never ends, and returns the response. */
async function sendHalf(
  port: number,
  path: string,
  headers: Record<string, string>,
): Promise<IncomingMessage> {
  const request = httpRequest({
    port,
    path,
    method: 'POST',
    headers: { ...headers, 'content-length': '1000' },
  });
  request.write('{');
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.once('end', () => request.destroy()).resume();
  return response;
}

/** Begins a gRPC call on a connection of its own, which is closed after `use`. */
async function withGrpcCall<T>(
  { port, path }: { port: number; path: string },
  headers: Record<string, string>,
  use: (stream: ClientHttp2Stream) => Promise<T>,
): Promise<T> {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  try {
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
      ...headers,
    });
    return await use(stream);
  } finally {
    session.destroy();
  }
}

/** Sends the head of a gRPC call whose body never ends; returns the gRPC status. */
const sendHalfGrpc = (port: number, path: string, headers: Record<string, string>) =>
  withGrpcCall({ port, path }, headers, async (stream): Promise<unknown> => {
    stream.write(Buffer.from([0, 0, 0]));
    const [head] = await once(stream, 'response');
    return head['grpc-status'] ?? (await once(stream.resume(), 'trailers'))[0]['grpc-status'];
  });

/** Calls a gRPC method with an empty message; returns the message of its status as it is sent. */
const sentMessage = (path: string) => {
  const { authorization } = stage;
  const { port } = stage.server;
  return withGrpcCall({ port, path }, { authorization }, async (stream): Promise<string> => {
    stream.end(Buffer.alloc(5));
    const [trailers] = await once(stream.resume(), 'trailers');
    return trailers['grpc-message'];
  });
};

test.each([submit, '/gleaner.job.v1.JobService/WatchJob'])(
  'the gRPC client for Node, which decodes like decodeURI(), can read the errors of %s',
  async (path) => {
    const message = await sentMessage(path);
    expect(decodeURI(message)).toMatch(/^\w+: /);
    expect(decodeURI(message)).toBe(decodeURIComponent(message));
  },
);

const post = async (path: string, body: string | Buffer, headers: Record<string, string> = {}) => {
  const response = await fetch(`http://127.0.0.1:${stage.server.port}${path}`, {
    method: 'POST',
    body: body as string,
    headers: { ...json, authorization: stage.authorization, ...headers },
  });
  // biome-ignore lint/suspicious/noExplicitAny: errors and responses.
  return { status: response.status, body: (await response.json()) as any };
};

const gzip = { 'content-encoding': 'gzip' };

describe.each(['core', 'gateway', 'forward'] as const)('the %s', (role) => {
  test.each([
    ['without a key', submit, {}, 401],
    ['with an unknown key', submit, { authorization: 'Bearer nobody' }, 401],
    [
      'of a streaming method without a key',
      '/gleaner.account.v1.AccountService/ExportLedger',
      {},
      200,
    ],
    ['of an operator without a key', listUsers, {}, 401],
  ])('responds to a call %s before its body has arrived', async (_name, path, headers, status) => {
    const streaming = status === 200 ? { 'content-type': 'application/connect+json' } : json;
    expect((await sendHalf(ports()[role], path, { ...streaming, ...headers })).statusCode).toBe(
      status,
    );
    if (role !== 'gateway') expect(await sendHalfGrpc(ports()[role], path, headers)).toBe('16');
  });

  test('refuses a user on an operator method before the body has arrived', async () => {
    const headers = { authorization: stage.authorization };
    expect((await sendHalf(ports()[role], listUsers, { ...json, ...headers })).statusCode).toBe(
      403,
    );
    if (role !== 'gateway') expect(await sendHalfGrpc(ports()[role], listUsers, headers)).toBe('7');
  });

  test('lists the allowed methods in the response to another method', async () => {
    const response = await fetch(`http://127.0.0.1:${ports()[role]}${getAccount}`);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('responds to a malformed authority with 400 and keeps serving', async () => {
    const socket = connect(ports()[role], '127.0.0.1');
    socket.end(`POST ${submit} HTTP/1.0\r\nHost: [\r\nContent-Type: application/json\r\n\r\n`);
    const chunks: Buffer[] = await socket.toArray();
    expect(Buffer.concat(chunks).toString()).toMatch(/^HTTP\/1\.1 400 /);
    expect((await sendHalf(ports()[role], getAccount, json)).statusCode).toBe(401);
  });
});

describe('a timeout', () => {
  test.each(['0n', '0S', '00000000H'])('of %s expires before the call begins', async (timeout) => {
    const headers = { authorization: stage.authorization, 'grpc-timeout': timeout };
    expect(await sendHalfGrpc(stage.server.port, submit, headers)).toBe('4');
  });

  test('of 0 ms ends a Connect call', async () => {
    expect(await post(getAccount, '{}', { 'connect-timeout-ms': '0' })).toMatchObject({
      status: 504,
      body: { code: 'deadline_exceeded' },
    });
  });
});

describe('the body limit', () => {
  const tooLarge = {
    code: 'resource_exhausted',
    details: [{ type: 'gleaner.fault.v1.Fault' }, { type: 'google.rpc.ErrorInfo' }],
  };

  test.each([
    ['of a method that submits nothing', getAccount, Buffer.alloc(70_000, ' ')],
    ['of a public method', '/grpc.health.v1.Health/Check', Buffer.alloc(5_000, ' ')],
  ])('%s is small', async (_name, path, body) => {
    expect(await post(path, body)).toMatchObject({
      status: 429,
      body: { code: 'resource_exhausted' },
    });
    expect(await post(path, gzipSync(body), gzip)).toMatchObject({ status: 429 });
  });

  test('applies to the decompressed bytes of a submission', async () => {
    const bomb = gzipSync(Buffer.alloc(31 * 1024 * 1024, ' '));
    expect(await post(submit, bomb, gzip)).toMatchObject({ status: 429, body: tooLarge });
    expect(await post(submit, Buffer.alloc(17 * 1024 * 1024, ' '))).toMatchObject({
      body: tooLarge,
    });
  });

  test('applies to the number of values of a submission', async () => {
    const body = `{"items":[${'{},'.repeat(200_000)}{}]}`;
    expect(await post(submit, body)).toMatchObject({ body: tooLarge });
    expect(await post(submit, gzipSync(body), gzip)).toMatchObject({ body: tooLarge });
    const binary = Buffer.alloc(400_000);
    for (let at = 0; at < binary.length; at += 2) binary[at] = 0x12;
    expect(await post(submit, binary, { 'content-type': 'application/proto' })).toMatchObject({
      body: tooLarge,
    });
  });

  test.each([
    ['plain', {}, (body: string) => Buffer.from(body)],
    ['gzip', gzip, (body: string) => gzipSync(body)],
  ])('accepts a submission of 100 KB: %s', async (_name, headers, encode) => {
    const padding = 'x'.repeat(100_000);
    const body = JSON.stringify({
      other: padding,
      country: 'id',
      items: [{ item_id: '1', shop_id: '2' }],
    });
    expect(await post(submit, encode(body), headers)).toMatchObject({ status: 200 });
    expect((await post(submit, 'no gzip', gzip)).status).toBe(400);
  });
});

describe('an enveloped call with more than one message', () => {
  const envelope = (flags: number, message: Buffer) => {
    const head = Buffer.alloc(5);
    head[0] = flags;
    head.writeUInt32BE(message.length, 1);
    return Buffer.concat([head, message]);
  };
  const sendWeb = async (port: number, contentType: string, body: Buffer, path = submit) => {
    const headers = {
      'content-type': contentType,
      'grpc-encoding': 'gzip',
      authorization: stage.authorization,
    };
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      body,
      headers,
    });
    const text = Buffer.from(await response.arrayBuffer()).toString('latin1');
    const [, status] = /grpc-status: ?(\d+)/.exec(text) ?? [];
    return status ?? response.headers.get('grpc-status');
  };
  const sendGrpc = (port: number, contentType: string, body: Buffer) => {
    const headers = {
      'content-type': contentType,
      'grpc-encoding': 'gzip',
      authorization: stage.authorization,
    };
    return withGrpcCall({ port, path: submit }, headers, async (stream) => {
      const ended = Promise.race([once(stream, 'response'), once(stream, 'trailers')]);
      stream.end(body);
      const [head] = await ended;
      return head['grpc-status'] ?? (await once(stream.resume(), 'trailers'))[0]['grpc-status'];
    });
  };
  // Neither can be decompressed or parsed, which another status would report.
  const unreadable = {
    plain: envelope(0, Buffer.from([7])),
    compressed: envelope(1, Buffer.from([7])),
  };

  test.each(
    ['+proto', '+json'].flatMap((suffix) =>
      (['core', 'gateway', 'forward'] as const).flatMap((role) =>
        (['plain', 'compressed'] as const).map((kind) => ({ suffix, role, kind })),
      ),
    ),
  )(
    'is refused before the second one, $kind, is read: $suffix at the $role',
    async ({ suffix, role, kind }) => {
      const body = Buffer.concat([
        envelope(0, Buffer.from(suffix === '+json' ? '{}' : '')),
        unreadable[kind],
      ]);
      const port = ports()[role];
      expect(await sendWeb(port, `application/grpc-web${suffix}`, body)).toBe('12');
      if (role !== 'gateway')
        expect(await sendGrpc(port, `application/grpc${suffix}`, body)).toBe('12');
    },
  );

  const account = '/gleaner.account.v1.AccountService/GetAccount';
  test.each(
    [2, 4, 0x80, 0xff].flatMap((flags) => [submit, account].map((path) => ({ flags, path }))),
  )('is refused, as is an envelope with the flags $flags, at $path', async ({ flags, path }) => {
    for (const role of ['core', 'gateway', 'forward'] as const)
      expect(
        await sendWeb(
          ports()[role],
          'application/grpc-web+proto',
          envelope(flags, Buffer.alloc(0)),
          path,
        ),
      ).toBe('3');
  });

  test.each([
    ['Connect', 'application/proto', (body: Buffer) => body],
    ['gRPC-Web', 'application/grpc-web+proto', (body: Buffer) => envelope(0, body)],
  ])('a group does not end the count of values: %s', async (_name, contentType, encode) => {
    const body = encode(
      Buffer.concat([
        Buffer.from([0xc3, 0x3e, 0xc4, 0x3e]),
        Buffer.alloc(400_000, Buffer.from([0x12, 0])),
      ]),
    );
    if (contentType === 'application/proto')
      expect(await post(submit, body, { 'content-type': contentType })).toMatchObject({
        body: { code: 'invalid_argument', message: expect.stringContaining('wire type 3') },
      });
    else expect(await sendWeb(stage.server.port, contentType, body)).toBe('3');
  });
});

describe('an integer in JSON', () => {
  const createKey = '/gleaner.account.v1.AccountService/CreateApiKey';
  const getUsage = '/gleaner.account.v1.AccountService/GetUsage';

  test.each(['"0x10"', '"0b11"', '"-0o7"', '"0X10"'])('rejects the numeral %s', async (numeral) => {
    const { status, body } = await post(createKey, `{"name":"ci","creditCeiling":${numeral}}`);
    expect([status, body.code]).toEqual([400, 'invalid_argument']);
    expect(body.message).toContain('credit_ceiling: Input should be a valid integer, not');
    expect((await post(getUsage, `{"days":${numeral}}`)).body.message).toContain(
      'days: Input should be',
    );
  });

  test.each(['"16"', '16'])('accepts %s, also in a compressed body', async (numeral) => {
    const text = `{"name":"0x10","creditCeiling":${numeral}}`;
    expect((await post(createKey, text)).status).toBe(200);
    expect((await post(createKey, gzipSync(text), gzip)).status).toBe(200);
  });
});
