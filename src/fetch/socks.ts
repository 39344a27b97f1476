import { isIPv4, isIPv6, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { receive } from './receive.ts';

/** User name and password for a proxy. */
export interface ProxyCredentials {
  username: string;
  password: string;
}

const version = 5;
const withoutLogin = 0;
const withLogin = 2;

const refusals: Readonly<Record<number, string>> = {
  1: 'it failed',
  2: 'its rules do not allow it',
  3: 'it cannot reach the network',
  4: 'it cannot reach the host',
  5: 'the connection was refused',
  6: 'it took too long',
  7: 'it does not know the command',
  8: 'it does not know the sort of address',
};

/** An address or name as the protocol writes it. */
function hostBytes(host: string): Buffer {
  if (isIPv4(host)) return Buffer.from([1, ...ipaddr.parse(host).toByteArray()]);
  if (isIPv6(host)) return Buffer.from([4, ...ipaddr.parse(host).toByteArray()]);
  const name = Buffer.from(host);
  if (name.length > 255) throw new Error('the host name is too long');
  return Buffer.concat([Buffer.from([3, name.length]), name]);
}

async function login(socket: Socket, { username, password }: ProxyCredentials): Promise<void> {
  const [name, word] = [Buffer.from(username), Buffer.from(password)];
  if (name.length > 255 || word.length > 255) throw new Error('user name or password is too long');
  socket.write(Buffer.concat([Buffer.from([1, name.length]), name, Buffer.from([word.length]), word]));
  const [, status] = await receive(socket, (bytes) => (bytes.length >= 2 ? 2 : 0));
  if (status !== 0) throw new Error('it does not accept the user name and password');
}

/** How long the answer to a connect request is: by its sort of address. */
function replyLength(bytes: Buffer): number {
  if (bytes.length < 5) return 0;
  const lengths: Record<number, number> = { 1: 10, 3: 7 + bytes[4]!, 4: 22 };
  const length = lengths[bytes[3]!] ?? 5;
  return bytes.length >= length ? length : 0;
}

/**
 * Asks a SOCKS5 proxy (RFC 1928, 1929) at the other end of the socket for a connection to a host and
 * port; afterwards the socket is that connection. Throws an Error that says what the proxy said.
 */
export async function socksConnect(
  socket: Socket,
  host: string,
  port: number,
  credentials: ProxyCredentials | null,
): Promise<void> {
  const methods = credentials ? [withoutLogin, withLogin] : [withoutLogin];
  socket.write(Buffer.from([version, methods.length, ...methods]));
  const [spoken, method] = await receive(socket, (bytes) => (bytes.length >= 2 ? 2 : 0));
  if (spoken !== version) throw new Error('it does not speak SOCKS5');
  if (method === withLogin && credentials) await login(socket, credentials);
  else if (method !== withoutLogin) throw new Error('it wants another login');
  const request = Buffer.concat([Buffer.from([version, 1, 0]), hostBytes(host), Buffer.alloc(2)]);
  request.writeUInt16BE(port, request.length - 2);
  socket.write(request);
  const reply = await receive(socket, replyLength);
  if (reply[1] !== 0) throw new Error(refusals[reply[1]!] ?? `it answered ${reply[1]}`);
}
