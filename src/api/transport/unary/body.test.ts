import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openRpcFixture, type RpcFixture } from '../../../../test/support/rpc/rpc-fixture.ts';

let fixture: RpcFixture;
let session: ClientHttp2Session;
beforeAll(async () => {
  fixture = await openRpcFixture();
  session = connect(`http://127.0.0.1:${fixture.server.port}`);
});
afterAll(async () => {
  session.destroy();
  await fixture.close();
});

/** Begins a call of GetAccount. */
const begin = (contentType: string): ClientHttp2Stream =>
  session.request({
    ':method': 'POST',
    ':path': '/gleaner.account.v1.AccountService/GetAccount',
    'content-type': contentType,
    te: 'trailers',
    authorization: fixture.authorization,
  });

/** Returns the gRPC status of a response. */
const statusOf = async (stream: ClientHttp2Stream) => {
  const [trailers] = await once(stream.resume(), 'trailers');
  return trailers['grpc-status'];
};

describe('the body of a unary call', () => {
  test('may arrive in pieces that divide the prefix of its message', async () => {
    const stream = begin('application/grpc');
    for (const piece of [[0], [0, 0], [0, 0, 0x0a], [3, 0x61], [0x62, 0x63]]) {
      const written = new Promise((resolve) => stream.write(Buffer.from(piece), resolve));
      await written;
    }
    stream.end();
    // The prefix declares no bytes, and five follow.
    expect(await statusOf(stream)).toBe('12');
    const whole = begin('application/grpc');
    for (const byte of [0, 0, 0, 0, 0])
      await new Promise((resolve) => whole.write(Buffer.from([byte]), resolve));
    whole.end();
    expect(await statusOf(whole)).toBe('0');
  });

  test('is refused by its prefix if the message would be too large', async () => {
    const stream = begin('application/grpc');
    stream.write(Buffer.from([0, 0, 1, 0, 1]));
    expect(await statusOf(stream)).toBe('8');
    stream.destroy();
  });

  test('may be empty', async () => {
    const stream = begin('application/proto');
    stream.end();
    const [headers] = await once(stream, 'response');
    expect([headers[':status'], headers['content-type']]).toEqual([200, 'application/proto']);
    stream.resume();
  });
});

test('a response has the headers of its protocol, of the call, and of the request', async () => {
  for (const contentType of [
    'application/proto',
    'application/grpc+proto',
    'application/grpc-web+proto',
  ]) {
    const stream = begin(contentType);
    stream.end(contentType === 'application/proto' ? Buffer.alloc(0) : Buffer.alloc(5));
    const [headers] = await once(stream, 'response');
    expect(headers).toMatchObject({
      ':status': 200,
      'content-type': contentType,
      'x-credits-remaining': '1000',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    await once(stream.resume(), 'end');
  }
});
