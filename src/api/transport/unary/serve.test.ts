import { gunzipSync, gzipSync } from 'node:zlib';
import { fromBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  ListSchemasResponseSchema,
  SchemaService,
} from '../../../../gen/gleaner/schema/v1/schema_pb.ts';
import { openRpcFixture, type RpcFixture } from '../../../../test/support/rpc/rpc-fixture.ts';

let fixture: RpcFixture;
beforeAll(async () => {
  fixture = await openRpcFixture();
});
afterAll(() => fixture.close());

type Body = Buffer<ArrayBuffer>;

const path = `/${SchemaService.typeName}/${SchemaService.method.listSchemas.name}`;

/** Calls ListSchemas over HTTP/1.1. */
const call = (contentType: string, body: Body, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${fixture.server.port}${path}`, {
    method: 'POST',
    headers: {
      authorization: fixture.authorization,
      'content-type': contentType,
      'accept-encoding': 'identity',
      ...headers,
    },
    body,
  });

const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer());

const empty = Buffer.alloc(0);
const envelope = (message: Body, flags = 0): Body => {
  const prefix = Buffer.alloc(5);
  prefix[0] = flags;
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
};

/** Returns the flags and contents of the envelopes of a body. */
function envelopesIn(body: Body): { flags: number; data: Body }[] {
  if (body.length === 0) return [];
  const end = 5 + body.readUInt32BE(1);
  return [{ flags: body[0]!, data: body.subarray(5, end) }, ...envelopesIn(body.subarray(end))];
}

const countIn = (message: Uint8Array) =>
  fromBinary(ListSchemasResponseSchema, message).tables.length;

describe('Connect', () => {
  test.each(['application/proto', 'application/json', 'application/json; charset=utf-8'])(
    'responds to %s in the same codec',
    async (contentType) => {
      const isJson = contentType.includes('json');
      const response = await call(contentType, isJson ? Buffer.from('{}') : empty);
      const body = await bytesOf(response);
      expect(response.headers.get('content-type')).toBe(contentType.split(';')[0]);
      expect(response.headers.get('content-length')).toBe(String(body.length));
      if (isJson) expect(JSON.parse(body.toString()).tables.length).toBeGreaterThan(1);
      else expect(countIn(body)).toBeGreaterThan(0);
    },
  );

  test('reads and sends messages in an encoding', async () => {
    const encodings = { 'content-encoding': 'gzip', 'accept-encoding': 'zstd, gzip' };
    const request = call('application/proto', gzipSync(empty), encodings);
    // fetch() decompresses the body.
    expect((await request).headers.get('content-encoding')).toBe('gzip');
    expect(countIn(await bytesOf(await request))).toBeGreaterThan(0);
  });

  test.each([
    ['an unknown encoding', { 'content-encoding': 'zstd' }, 501, 'unimplemented'],
    ['a timeout that is none', { 'connect-timeout-ms': '1s' }, 400, 'invalid_argument'],
    ['a timeout of 0', { 'connect-timeout-ms': '0' }, 504, 'deadline_exceeded'],
    ['a wrong key', { authorization: 'Bearer nobody' }, 401, 'unauthenticated'],
  ])('an error is JSON: %s', async (_name, headers, status, code) => {
    const response = await call('application/proto', empty, headers);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      status,
      'application/json',
    ]);
    expect(await response.json()).toMatchObject({ code });
  });
});

describe('gRPC-Web', () => {
  const responds = async (body: Body, headers: Record<string, string> = {}) => {
    const response = await call('application/grpc-web', body, headers);
    const envelopes = envelopesIn(await bytesOf(response));
    const trailers = envelopes.at(-1)!.data.toString();
    const status = /^grpc-status: (\d+)\r$/m.exec(trailers)?.[1];
    return { status, envelopes, header: (name: string) => response.headers.get(name) };
  };

  test('sends the message, and the status after it', async () => {
    const { status, envelopes } = await responds(envelope(empty));
    expect([status, envelopes.map(({ flags }) => flags)]).toEqual(['0', [0, 0x80]]);
    expect(countIn(envelopes[0]!.data)).toBeGreaterThan(0);
  });

  test('compresses a message above a kilobyte', async () => {
    const encodings = { 'grpc-encoding': 'gzip', 'grpc-accept-encoding': 'gzip' };
    const { status, envelopes, header } = await responds(envelope(gzipSync(empty), 1), encodings);
    expect([status, envelopes.map(({ flags }) => flags)]).toEqual(['0', [1, 0x80]]);
    expect(header('grpc-encoding')).toBe('gzip');
    expect(countIn(gunzipSync(envelopes[0]!.data))).toBeGreaterThan(0);
  });

  test.each([
    ['no message', empty, '12'],
    ['a second message', Buffer.concat([envelope(empty), envelope(empty)]), '12'],
    ['half of the prefix', Buffer.alloc(3), '3'],
    ['half of a message', envelope(Buffer.alloc(4)).subarray(0, 7), '3'],
    ['a compressed message without an encoding', envelope(gzipSync(empty), 1), '13'],
    ['unknown flags', envelope(empty, 2), '3'],
    ['a message that is no protobuf', envelope(Buffer.from([0xff])), '3'],
  ])('refuses %s', async (_name, body, status) => {
    const response = await responds(body);
    expect(response.status).toBe(status);
    expect(response.envelopes).toHaveLength(1);
  });
});

test.each(['text/plain', 'application/grpc-web-text', 'application/connect+proto'])(
  'a unary call with %s is refused in text',
  async (contentType) => {
    const response = await call(contentType, empty);
    expect(response.status).toBe(415);
    expect(await response.text()).toContain('Content-Type is not supported');
  },
);
