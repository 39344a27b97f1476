import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import {
  connect as connectHttp2,
  createServer as createHttp2Server,
  type Http2Server,
} from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { abortResponse } from './abort-response.ts';

let server: Server | Http2Server;
afterEach(() => server.close());

async function listen(): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}

/** Sends a request over HTTP/1.0, and returns how the connection ended. */
async function endOf(port: number, isReading = true): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const ended = Promise.withResolvers<string>();
  socket.on('end', () => ended.resolve('complete'));
  socket.on('error', (error: NodeJS.ErrnoException) => ended.resolve(error.code ?? ''));
  socket.write('GET / HTTP/1.0\r\n\r\n');
  if (isReading) socket.resume();
  else server.once('broken', () => socket.resume());
  return ended.promise;
}

test('resets the connection of HTTP/1.0, on which a normal end is the end of the response', async () => {
  server = createServer((_request, response) => {
    response.writeHead(200);
    response.write('half', () => abortResponse(response));
  });
  expect(await endOf(await listen())).toBe('ECONNRESET');
});

test('does not wait for a client that has stopped reading', async () => {
  server = createServer((_request, response) => {
    response.writeHead(200);
    response.write(Buffer.alloc(64 * 1024 * 1024));
    response.once('close', () => server.emit('broken'));
    setImmediate(() => abortResponse(response));
  });
  expect(await endOf(await listen(), false)).toBe('ECONNRESET');
});

test('ends a stream of HTTP/2 with an error, and leaves its connection open', async () => {
  const http2 = createHttp2Server((_request, response) => {
    response.writeHead(200);
    response.write('half', () => abortResponse(response));
  });
  server = http2;
  const session = connectHttp2(`http://127.0.0.1:${await listen()}`);
  const stream = session.request({ ':path': '/' }).resume();
  const [error] = (await once(stream, 'error').catch((thrown) => [thrown])) as [Error];
  expect(error).toMatchObject({ code: 'ERR_HTTP2_STREAM_ERROR' });
  expect([stream.rstCode, session.closed]).toEqual([2, false]);
  session.close();
});
