import type { Socket } from 'node:net';

/** Longest message that is waited for, in bytes. */
const longest = 16 * 1024;

/**
 * The next message on a socket. `lengthOf` tells its length once it is complete, 0 before; what comes
 * after it stays on the socket. Rejects when the connection ends or fails, or the message has no end.
 */
export function receive(socket: Socket, lengthOf: (bytes: Buffer) => number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  let bytes: Buffer = Buffer.alloc(0);
  const read = () => {
    for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null) {
      bytes = Buffer.concat([bytes, chunk]);
      const length = lengthOf(bytes);
      if (length > 0) {
        if (bytes.length > length) socket.unshift(bytes.subarray(length));
        return resolve(bytes.subarray(0, length));
      }
      if (bytes.length > longest) return reject(new Error('its answer has no end'));
    }
  };
  const end = () => reject(new Error('it ended the connection'));
  const events = { readable: read, end, close: end, error: reject };
  for (const [name, listener] of Object.entries(events)) socket.on(name, listener);
  read();
  return promise.finally(() => {
    for (const [name, listener] of Object.entries(events)) socket.off(name, listener);
  });
}
