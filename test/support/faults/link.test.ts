import { once } from 'node:events';
import net, { type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type FaultyLink, startLink } from './link.ts';

let echo: Server;
let link: FaultyLink;
beforeEach(async () => {
  echo = net
    .createServer((socket) => socket.on('error', () => {}).pipe(socket))
    .listen(0, '127.0.0.1');
  await once(echo, 'listening');
  link = await startLink((echo.address() as AddressInfo).port);
});
afterEach(async () => {
  await link.stop();
  echo.close();
});

async function connect() {
  const socket = net.connect(link.port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  return socket.setEncoding('utf8');
}

/** Resolves when a connection is closed or reset. */
function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.on('error', () => {}).on('close', () => resolve()));
}

describe('startLink()', () => {
  test('passes bytes in both directions, delayed ones in order', async () => {
    const socket = await connect();
    link.delay(5);
    for (const letter of 'abc') socket.write(letter);
    let text = '';
    while (text.length < 3) text += (await once(socket, 'data'))[0];
    expect(text).toBe('abc');
    socket.destroy();
  });

  test('holds bytes back while silent and passes them once healed', async () => {
    const socket = await connect();
    link.silence();
    let heard = false;
    socket.once('data', () => {
      heard = true;
    });
    socket.write('late');
    // A round trip that bypasses the link: data that was not held back would have arrived by now.
    const other = net.connect((echo.address() as AddressInfo).port, '127.0.0.1');
    other.write('x');
    await once(other, 'data');
    expect(heard).toBe(false);
    const data = once(socket, 'data');
    link.heal();
    expect(await data).toEqual(['late']);
    other.destroy();
    socket.destroy();
  });

  test('resets connections while cut and accepts them once healed', async () => {
    const socket = await connect();
    const closed = closing(socket);
    link.cut();
    await closed;
    await closing(net.connect(link.port, '127.0.0.1'));
    link.heal();
    (await connect()).destroy();
  });
});
