import type { Socket } from 'node:net';

const version = 5;
const noAuthentication = 0;
const connectCommand = 1;

/** Creates a SOCKS 5 reply. The browser ignores the address after the code. */
const reply = (code: number) => Buffer.from([version, code, 0, 1, 0, 0, 0, 0, 0, 0]);

/** Replies to a connect request (RFC 1928, section 6). */
export const socksReplies = { connected: reply(0), refused: reply(2), unreachable: reply(4) };

/**
 * Returns the length of a greeting; 0 while it is incomplete. An invalid message counts as
 * complete.
 */
function greetingLength(bytes: Buffer): number {
  if (bytes.length < 2) return 0;
  if (bytes[0] !== version) return bytes.length;
  return bytes.length < 2 + bytes[1]! ? 0 : 2 + bytes[1]!;
}

/** Returns the length of a request, like greetingLength(). */
function requestLength(bytes: Buffer): number {
  if (bytes.length < 5) return 0;
  const sizes: Record<number, number> = { 1: 4, 3: 1 + bytes[4]!, 4: 16 };
  const size = sizes[bytes[3]!];
  if (bytes[0] !== version || bytes[1] !== connectCommand || size === undefined)
    return bytes.length;
  return bytes.length < 6 + size ? 0 : 6 + size;
}

function formatIPv6(bytes: Buffer): string {
  return Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16)).join(':');
}

/**
 * Performs the handshake and returns the target of the connection. Rejects for anything but a SOCKS
 * 5 connection.
 */
export async function receiveTarget(socket: Socket): Promise<{ host: string; port: number }> {
  const greeting = await receiveMessage(socket, greetingLength);
  if (greeting[0] !== version || !greeting.subarray(2).includes(noAuthentication)) {
    throw new Error('not a SOCKS 5 greeting');
  }
  socket.write(Buffer.from([version, noAuthentication]));
  const request = await receiveMessage(socket, requestLength);
  const [requestVersion, command, , addressType] = request;
  if (requestVersion !== version || command !== connectCommand)
    throw new Error('not a SOCKS 5 connection');
  const name = request.subarray(addressType === 3 ? 5 : 4, -2);
  const host = formatHost(name, addressType);
  return { host: host.replace(/^\[|\]$/g, ''), port: request.readUInt16BE(request.length - 2) };
}

/** Formats an address by its type in RFC 1928: 1 is IPv4, 4 is IPv6, 3 is a name. */
function formatHost(address: Buffer, type: number | undefined): string {
  if (type === 1) return address.join('.');
  return type === 4 ? formatIPv6(address) : address.toString('latin1');
}

/** Maximum size of a message, in bytes. */
const maxMessageBytes = 16 * 1024;

/**
 * Receives the next message from a socket; later bytes remain on the socket. `lengthOf` returns the
 * length of a complete message, 0 for an incomplete one. Rejects if the connection ends or fails,
 * or the message exceeds 16 KB.
 */
function receiveMessage(socket: Socket, lengthOf: (bytes: Buffer) => number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    const stopListening = () => {
      socket.off('readable', read);
      socket.off('end', ended);
      socket.off('close', ended);
      socket.off('error', fail);
    };
    const fail = (error: Error) => {
      stopListening();
      reject(error);
    };
    const ended = () => fail(new Error('it closed the connection'));
    const read = () => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      bytes = Buffer.concat([bytes, chunk]);
      const length = lengthOf(bytes);
      if (length === 0) {
        if (bytes.length > maxMessageBytes) fail(new Error('its response is too long'));
        return;
      }
      // Before unshift(), which would trigger another read.
      stopListening();
      if (bytes.length > length) socket.unshift(bytes.subarray(length));
      resolve(bytes.subarray(0, length));
    };
    socket.on('readable', read);
    socket.on('end', ended);
    socket.on('close', ended);
    socket.on('error', fail);
  });
}
