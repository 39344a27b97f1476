import type { Socket } from 'node:net';

/** Longest message that is waited for, in bytes. */
const longest = 16 * 1024;

/**
 * The next message on a socket. `lengthOf` tells its length once it is complete, 0 before; what comes
 * after it stays on the socket. Rejects when the connection ends or fails, or the message has no end.
 */
export function receive(socket: Socket, lengthOf: (bytes: Buffer) => number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let bytes: Buffer = Buffer.alloc(0);
    const leave = () => {
      socket.off('readable', read);
      socket.off('end', ended);
      socket.off('close', ended);
      socket.off('error', fail);
    };
    const fail = (error: Error) => {
      leave();
      reject(error);
    };
    const ended = () => fail(new Error('it ended the connection'));
    const read = () => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return;
      bytes = Buffer.concat([bytes, chunk]);
      const length = lengthOf(bytes);
      if (length === 0) {
        if (bytes.length > longest) fail(new Error('its answer has no end'));
        return;
      }
      // First of all: what is put back would be read here again.
      leave();
      if (bytes.length > length) socket.unshift(bytes.subarray(length));
      resolve(bytes.subarray(0, length));
    };
    socket.on('readable', read);
    socket.on('end', ended);
    socket.on('close', ended);
    socket.on('error', fail);
  });
}
