import type { Socket } from 'node:net';

/** Maximum size of a message, in bytes. */
const maxMessageBytes = 16 * 1024;

/**
 * Receives the next message from a socket; later bytes remain on the socket. `lengthOf` returns the length of a complete
 * message, 0 for an incomplete one. Rejects if the connection ends or fails, or the message exceeds 16 KB.
 */
export function receiveMessage(socket: Socket, lengthOf: (bytes: Buffer) => number): Promise<Buffer> {
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
