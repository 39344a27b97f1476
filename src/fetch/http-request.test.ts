import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Agent, request } from 'undici';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createConnector } from './http-request.ts';

const final = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi';
const proceed = 'HTTP/1.1 100 Continue\r\n\r\n';
const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n';

let server: Server;
let agent: Agent;
beforeEach(() => {
  agent = new Agent({ connect: createConnector({}) });
});
afterEach(async () => {
  await agent.destroy();
  await new Promise((resolve) => server.close(resolve));
});

/** Starts a server that writes parts, each after the one before was read, for each request. */
async function serve(parts: readonly string[]): Promise<string> {
  server = createServer((socket: Socket) => {
    socket.setNoDelay();
    const writeFrom = (at: number): void => {
      if (at < parts.length) socket.write(parts[at]!, () => setImmediate(writeFrom, at + 1));
    };
    socket.on('data', () => writeFrom(0));
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function receive(origin: string): Promise<string> {
  const { statusCode, body } = await request(origin, { dispatcher: agent });
  return `${statusCode} ${await body.text()}`;
}

test.each([
  ['none', [final]],
  ['100 Continue', [proceed, final]],
  ['100 Continue in one part', [proceed + final]],
  ['several', [`${proceed}${hints}${proceed}`, final]],
  ['parts of one byte', [...proceed, ...final]],
  ['none, in parts of one byte', [...final]],
])('a response after interim responses is received: %s', async (_title, parts) => {
  const origin = await serve(parts);
  expect(await receive(origin)).toBe('200 hi');
  expect(await receive(origin)).toBe('200 hi');
});

test('a body that looks like an interim response is unchanged', async () => {
  const origin = await serve([`HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n`, proceed]);
  expect(await receive(origin)).toBe(`200 ${proceed}`);
});

test.each([
  ['an interim response without an end', [`HTTP/1.1 100 Continue\r\nX: ${'x'.repeat(20_000)}`]],
  ['101 Switching Protocols', ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n']],
])('%s is refused', async (_title, parts) => {
  const origin = await serve(parts);
  await expect(receive(origin)).rejects.toThrow();
});
