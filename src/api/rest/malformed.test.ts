import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestGateway } from '../../../gateway/fixture/gateway.ts';
import { startTestApi } from './fixture.ts';

let api: TestGateway;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close(0));

test.each([
  ['no HTTP at all', 'hello\r\n\r\n', 400],
  ['a header without a colon', 'GET / HTTP/1.1\r\nHost x\r\n\r\n', 400],
  ['headers without end', `GET / HTTP/1.1\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`, 431],
  [
    'two lengths',
    'POST /shop/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx',
    400,
  ],
  [
    'a length and chunks',
    'POST /shop/orders HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['no Host', 'GET /health HTTP/1.1\r\n\r\n', 400],
  ['two Hosts', 'GET /health HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 400],
  ['a Host with a path', 'GET /health HTTP/1.1\r\nHost: x/y\r\n\r\n', 400],
  ['a Host with a space', 'GET /health HTTP/1.1\r\nHost: x y\r\n\r\n', 400],
  [
    'another transfer coding',
    'POST /shop/orders HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['a tunnel', 'CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n', 400],
  ['HTTP/1.0 without a Host', 'GET /health HTTP/1.0\r\n\r\n', 200],
  ['an unknown expectation', 'GET /health HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n', 417],
  ['a NUL in the path', 'GET /\0 HTTP/1.1\r\nHost: x\r\n\r\n', 400],
  ['a path of percent signs', 'GET /%%% HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 400],
  [
    'an absolute address',
    'GET http://x/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
    200,
  ],
  ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n', 404],
])('responds to %s with JSON', async (_name, text, status) => {
  const response = await new Promise<string>((resolve, reject) => {
    const socket = connect(api.port, '127.0.0.1', () => socket.write(text));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
    });
    socket.on('end', () => resolve(received));
    socket.on('error', reject);
  });
  expect(response).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(JSON.parse(response.slice(response.indexOf('\r\n\r\n') + 4))).toMatchObject(
    status === 200 ? { status: 'ok' } : { detail: expect.any(String), code: expect.any(String) },
  );
});
