import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect as connectHttp2,
  constants,
} from 'node:http2';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { openRpcFixture, type RpcFixture } from '../../../test/support/rpc/rpc-fixture.ts';
import { until } from '../../../test/support/time/until.ts';
import type { ConnectionLimits } from '../../base/connections.ts';

/** Short limits; no test measures their duration. */
const short = { headersMs: 60, requestMs: 120, idleMs: 60, checkMs: 10 };

let stage: RpcFixture;
const sockets: Socket[] = [];
const sessions: ClientHttp2Session[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const session of sessions.splice(0)) session.destroy();
  await stage.close();
});

const open = async (limits: Partial<ConnectionLimits> = short) => {
  stage = await openRpcFixture(limits);
};

/**
 * Sends bytes on a new connection; resolves with what was received once the server has closed it.
 */
async function untilClosed(sent: string): Promise<string> {
  const socket = connect(stage.server.port, '127.0.0.1').on('error', () => {});
  sockets.push(socket);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  if (sent !== '') socket.write(sent, 'latin1');
  await once(socket, 'close');
  return received;
}

async function openSession(socket?: Socket): Promise<ClientHttp2Session> {
  const options = socket && { createConnection: () => socket };
  const session = connectHttp2(`http://127.0.0.1:${stage.server.port}`, options).on(
    'error',
    () => {},
  );
  sessions.push(session);
  await once(session, 'connect');
  return session;
}

const path = '/gleaner.account.v1.AccountService/GetAccount';
const head = (authorization: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Type: application/json\r\n`;
const grpcHead = (method: string) => ({
  ':method': 'POST',
  ':path': method,
  'content-type': 'application/grpc',
  te: 'trailers',
  authorization: stage.authorization,
});
/** Calls GetAccount and returns the status. */
const account = async (session: ClientHttp2Session) => {
  const stream = session.request(grpcHead(path)).on('error', () => {});
  stream.end(Buffer.from([0, 0, 0, 0, 0]));
  const [trailers] = await once(stream.resume(), 'trailers');
  return trailers['grpc-status'];
};
const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const settingsFrame = '\0\0\0\x04\0\0\0\0\0';
/** HEADERS of stream 1 without END_HEADERS. */
const halfHeaders = '\0\0\x01\x01\0\0\0\0\x01\x83';

describe('the server', () => {
  test.each([
    ['when it sends nothing', ''],
    ['after half of the HTTP/1.1 headers', 'POST / HTTP/1.1\r\nHost: x\r\nX-'],
    ['after one byte', 'P'],
    ['after half of the HTTP/2 preface', preface.slice(0, 10)],
    ['after the HTTP/2 preface without a stream', preface + settingsFrame],
    ['after half of the HTTP/2 headers', preface + settingsFrame + halfHeaders],
  ])('%s', async (_name, sent) => {
    await open();
    expect(await untilClosed(sent)).not.toContain('200 OK');
  });

  test('closes a connection after half of a body, with and without a key', async () => {
    await open();
    const body = 'Content-Length: 100\r\n\r\n{';
    expect(await untilClosed(head(stage.authorization) + body)).toContain('408 Request Timeout');
    expect(await untilClosed(head('Bearer nobody') + body)).toContain('401 Unauthorized');
  });

  test('closes a connection that is idle after a response', async () => {
    await open();
    const request = `${head(stage.authorization)}Content-Length: 2\r\n\r\n{}`;
    expect(await untilClosed(request)).toContain('200 OK');
  });

  test('closes the oldest session without a call for one above the maximum number of connections', async () => {
    await open({ maxConnections: 2 });
    const idle = await openSession();
    const ended = once(idle, 'close');
    // The gateway holds the other connection after its first call.
    await openSession();
    const further = await openSession();
    await ended;
    expect(further.closed).toBe(false);
  });

  test('closes a connection that sends more than the limit without a valid key', async () => {
    await open({ checkMs: 10, maxRefusedBytes: 10_000 });
    const body = `Content-Length: 1000000\r\n\r\n${' '.repeat(50_000)}`;
    expect(await untilClosed(head('Bearer nobody') + body)).toContain('401 Unauthorized');
  });
});

const body = 'Content-Length: 2\r\nConnection: close\r\n\r\n{}';
test.each([
  ['a header without a colon', 'POST / HTTP/1.1\r\nHost x\r\n\r\n', 400, 'invalid_argument'],
  ['no Host', `POST ${path} HTTP/1.1\r\n${body}`, 400, 'invalid_argument'],
  ['two Hosts', `POST ${path} HTTP/1.1\r\nHost: x\r\nHost: y\r\n${body}`, 400, 'invalid_argument'],
  [
    'long headers',
    `POST / HTTP/1.1\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
    431,
    'resource_exhausted',
  ],
  ['a tunnel', 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n', 400, 'invalid_argument'],
  [
    'an unknown expectation',
    `POST / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n${body}`,
    417,
    'invalid_argument',
  ],
])('responds over HTTP/1.1 to %s with an error of Connect', async (_name, sent, status, code) => {
  await open({});
  const response = await untilClosed(sent);
  expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(response.toLowerCase()).toContain('content-type: application/json');
  expect(JSON.parse(/\{.*\}/.exec(response)![0])).toEqual({ code, message: expect.any(String) });
});

test.each([
  ['an unknown path', 'GET', '/', 404, /^No method has this path\./],
  ['another method than POST', 'PUT', path, 405, /^This method takes POST only\.$/],
  [
    'a missing Content-Type',
    'POST',
    path,
    415,
    /^Content-Type is not supported: send application\/json,/,
  ],
])('responds to %s with a text', async (_name, method, at, status, text) => {
  await open({});
  const response = await fetch(`http://127.0.0.1:${stage.server.port}${at}`, { method });
  expect([response.status, (await response.text()).trim()]).toEqual([
    status,
    expect.stringMatching(text),
  ]);
});

test('a body with a valid key may exceed the limit for callers without one', async () => {
  await open({ checkMs: 5, maxRefusedBytes: 10_000 });
  const body = JSON.stringify({ other: 'x'.repeat(50_000) });
  const socket = connect(stage.server.port, '127.0.0.1');
  sockets.push(socket);
  socket.write(
    `${head(stage.authorization)}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 30_000)}`,
  );
  // The check that closes this connection has kept the other one, which sent its bytes earlier.
  const refused = `Content-Length: 1000000\r\n\r\n${' '.repeat(50_000)}`;
  await untilClosed(head('Bearer nobody') + refused);
  socket.write(body.slice(30_000));
  expect(String((await once(socket, 'data'))[0])).toContain('200 OK');
});

test('resets an HTTP/2 stream with an incomplete body, but not an open response or its session', async () => {
  await open();
  const session = await openSession();
  const watch = session.request(grpcHead('/grpc.health.v1.Health/Watch'));
  watch.end(Buffer.from([0, 0, 0, 0, 0]));
  await once(watch, 'response');
  const half = session.request(grpcHead(path)).on('error', () => {});
  half.write(Buffer.from([0, 0]));
  await once(half, 'close');
  expect(half.rstCode).toBe(constants.NGHTTP2_CANCEL);
  // A new session is idle and closed, or reset; the one with the open response stays.
  const idle = await openSession();
  await new Promise((resolve) => idle.once('close', resolve));
  expect([watch.closed, session.closed]).toEqual([false, false]);
});

test.each(['99999999H', '99999999M', '99999999S'])(
  'a stream with the timeout %s stays open',
  async (timeout) => {
    await open({});
    const session = await openSession();
    const head = { ...grpcHead('/grpc.health.v1.Health/Watch'), 'grpc-timeout': timeout };
    const watch = session.request(head).on('error', () => {});
    watch.resume().end(Buffer.from([0, 0, 0, 0, 0]));
    await once(watch, 'response');
    for (let count = 0; count < 3; count += 1) expect(await account(session)).toBe('0');
    expect(watch.closed).toBe(false);
  },
);

test('ends the calls of an HTTP/2 client that closes its connection', async () => {
  await open({});
  const socket = connect(stage.server.port, '127.0.0.1');
  sockets.push(socket);
  const session = await openSession(socket);
  const watch = session.request(grpcHead('/grpc.health.v1.Health/Watch')).on('error', () => {});
  watch.end(Buffer.from([0, 0, 0, 0, 0]));
  await once(watch, 'response');
  expect(stage.server.connections()).toBe(1);
  // As the system does for a process that ends, without a frame of HTTP/2.
  socket.destroy();
  const isClosed = () => stage.server.connections() === 0 || undefined;
  await until('the connection is closed', isClosed, { withinMs: 2_000, everyMs: 5 });
});

test('an HTTP/2 session may open at most the configured number of streams', async () => {
  await open({ maxStreams: 3 });
  const session = await openSession();
  if (session.remoteSettings.maxConcurrentStreams !== 3) await once(session, 'remoteSettings');
  expect(session.remoteSettings).toMatchObject({
    maxConcurrentStreams: 3,
    maxHeaderListSize: 16_384,
  });
});

describe('the maximum number of streams of the port', () => {
  const watch = (session: ClientHttp2Session) => {
    const stream = session.request(grpcHead('/grpc.health.v1.Health/Watch')).on('error', () => {});
    stream.end(Buffer.from([0, 0, 0, 0, 0]));
    return stream;
  };
  const closed = (stream: ClientHttp2Stream) =>
    new Promise((resolve) => stream.once('close', resolve));

  test('replaces the oldest stream without a key, of any connection', async () => {
    await open({ maxPortStreams: 2 });
    const first = watch(await openSession());
    await once(first, 'response');
    const second = watch(await openSession());
    await once(second, 'response');
    const replaced = closed(first);
    expect(await account(await openSession())).toBe('0');
    await replaced;
    expect([first.rstCode, second.closed]).toEqual([constants.NGHTTP2_REFUSED_STREAM, false]);
  });

  test('refuses a stream while all others have a key', async () => {
    await open({ maxPortStreams: 1 });
    const admitted = Promise.withResolvers<void>();
    const { admit } = stage.core;
    stage.core.admit = (...given) => admit(...given).finally(admitted.resolve);
    const session = await openSession();
    const held = session.request(grpcHead(path)).on('error', () => {});
    held.write(Buffer.from([0, 0]));
    await admitted.promise;
    const refused = watch(await openSession());
    await closed(refused);
    expect([refused.rstCode, held.closed]).toEqual([constants.NGHTTP2_REFUSED_STREAM, false]);
    const ended = closed(held);
    held.close();
    await ended;
    expect(await account(await openSession())).toBe('0');
  });
});

describe('a session that resets many streams', () => {
  /** Opens calls without the end of their bodies. */
  const hold = (session: ClientHttp2Session) =>
    Array.from({ length: 30 }, () => {
      const stream = session.request(grpcHead(path)).on('error', () => {});
      stream.write(Buffer.from([0]));
      return stream;
    });
  const reset = (streams: ClientHttp2Stream[]) => {
    for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL);
  };

  test('ends with GOAWAY if their calls were not accepted', async () => {
    await open({ maxResets: { burst: 10, perSecond: 1 } });
    const session = await openSession();
    const away = once(session, 'goaway');
    const streams = hold(session);
    setImmediate(reset, streams);
    const [code] = await away;
    expect(code).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });

  test('continues if their calls were accepted, as those of a gateway', async () => {
    await open({ maxResets: { burst: 10, perSecond: 1 } });
    let admitted = 0;
    const { admit } = stage.core;
    stage.core.admit = (...given) => admit(...given).finally(() => (admitted += 1));
    const session = await openSession();
    const streams = hold(session);
    const areAdmitted = () => admitted === streams.length || undefined;
    await until('the calls are accepted', areAdmitted, { withinMs: 2_000, everyMs: 5 });
    reset(streams);
    expect(await account(session)).toBe('0');
    expect(session.closed).toBe(false);
  });
});
