import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { lstatSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { until } from '../../../test/support/time/until.ts';
import { type CommandSession, clientFetch, writeStream } from './session.ts';

const folder = mkdtempSync(join(tmpdir(), 'gleaner-session-'));
afterAll(() => rmSync(folder, { recursive: true }));

const session = {
  io: { path: (path: string) => path },
  signal: new AbortController().signal,
} as unknown as CommandSession;

async function* stream() {
  yield new TextEncoder().encode('x');
}

describe('writeStream()', () => {
  test('replaces a file', async () => {
    const path = join(folder, 'file');
    await writeStream(session, stream(), path);
    await writeStream(session, stream(), path);
    expect(readFileSync(path, 'utf8')).toBe('x');
  });

  test.skipIf(process.platform === 'win32')('writes to a pipe', async () => {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    const read = readFile(path, 'utf8');
    await writeStream(session, stream(), path);
    expect(await read).toBe('x');
    expect(lstatSync(path).isFIFO()).toBe(true);
  });
});

const countSockets = () =>
  process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

test('clientFetch() rejects if a server closes the connection of a body that is not read', async () => {
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 200000\r\nConnection: close\r\n\r\n');
      socket.write(Buffer.alloc(100_000), () => socket.resetAndDestroy());
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const before = countSockets();

  const response = await clientFetch(`http://127.0.0.1:${port}/`);
  const isClosed = () => countSockets() === before || undefined;
  await until('the connection is closed', isClosed, { withinMs: 5_000 });
  server.close();
  await expect(response.arrayBuffer()).rejects.toThrow('terminated');
});
