import { isIPv4, isIPv6, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { receiveMessage } from './receive.ts';

/** Credentials of a proxy. */
export interface ProxyCredentials {
  username: string;
  password: string;
}

const version = 5;
const noAuthentication = 0;
const passwordAuthentication = 2;

/** Meanings of the reply codes (RFC 1928, section 6). */
const replyMessages: Readonly<Record<number, string>> = {
  1: 'general failure',
  2: 'connection not allowed by its rules',
  3: 'network unreachable',
  4: 'host unreachable',
  5: 'connection refused',
  6: 'time to live expired',
  7: 'command not supported',
  8: 'address type not supported',
};

/** Encodes an address or a host name for a connect request. */
function encodeHost(host: string): Buffer {
  if (isIPv4(host)) return Buffer.from([1, ...ipaddr.parse(host).toByteArray()]);
  if (isIPv6(host)) return Buffer.from([4, ...ipaddr.parse(host).toByteArray()]);
  const name = Buffer.from(host);
  if (name.length > 255) throw new Error('host name too long');
  return Buffer.concat([Buffer.from([3, name.length]), name]);
}

async function authenticate(socket: Socket, { username, password }: ProxyCredentials): Promise<void> {
  const [user, secret] = [Buffer.from(username), Buffer.from(password)];
  if (user.length > 255 || secret.length > 255) throw new Error('user name or password too long');
  socket.write(Buffer.concat([Buffer.from([1, user.length]), user, Buffer.from([secret.length]), secret]));
  const [, status] = await receiveMessage(socket, (bytes) => (bytes.length >= 2 ? 2 : 0));
  if (status !== 0) throw new Error('user name or password rejected');
}

/** Returns the length of a reply to a connect request, which depends on its address type; 0 while incomplete. */
function replyLength(bytes: Buffer): number {
  if (bytes.length < 5) return 0;
  const lengths: Record<number, number> = { 1: 10, 3: 7 + bytes[4]!, 4: 22 };
  const length = lengths[bytes[3]!] ?? 5;
  return bytes.length >= length ? length : 0;
}

/**
 * Connects to a host and port through the SOCKS5 proxy at the other end of a socket (RFC 1928, RFC 1929). Afterwards, the
 * socket is connected to the target. Throws an Error with the proxy's reason.
 */
export async function connectSocks(
  socket: Socket,
  host: string,
  port: number,
  credentials: ProxyCredentials | null,
): Promise<void> {
  const methods = credentials ? [noAuthentication, passwordAuthentication] : [noAuthentication];
  socket.write(Buffer.from([version, methods.length, ...methods]));
  const [replyVersion, method] = await receiveMessage(socket, (bytes) => (bytes.length >= 2 ? 2 : 0));
  if (replyVersion !== version) throw new Error('not a SOCKS5 proxy');
  if (method === passwordAuthentication && credentials) await authenticate(socket, credentials);
  else if (method !== noAuthentication) throw new Error('unsupported authentication method');
  const request = Buffer.concat([Buffer.from([version, 1, 0]), encodeHost(host), Buffer.alloc(2)]);
  request.writeUInt16BE(port, request.length - 2);
  socket.write(request);
  const reply = await receiveMessage(socket, replyLength);
  if (reply[1] !== 0) throw new Error(replyMessages[reply[1]!] ?? `reply code ${reply[1]}`);
}
