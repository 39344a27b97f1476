import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';

/** Code of HTTP/2 for a stream that failed. Clients take NO_ERROR for a complete response. */
const internalError = 2;

/**
 * Breaks off a response of which a part may have been sent. Resets its connection, or its stream of HTTP/2:
 * for a client of HTTP/1.0, and for a proxy that speaks it, a connection that is closed normally ends a
 * complete response.
 */
export function abortResponse(response: ServerResponse | Http2ServerResponse): void {
  if ('stream' in response) response.stream.close(internalError);
  else if (response.socket === null) response.destroy();
  else resetConnection(response.socket);
}

/** Ends a connection with a reset at once, and discards what the client has not read. */
export function resetConnection(socket: Socket): void {
  // resetAndDestroy() would first wait until the client has read everything, which may never happen.
  Object.assign(socket, { resetAndClosing: true });
  socket.destroy();
}
