/** A connection of node:net. */
interface Connection {
  destroy(): unknown;
}

/** A response of node:http, or of node:http2, which has a stream of its own. */
interface OpenResponse {
  stream?: { close(code: number): unknown };
  readonly socket: Connection | null;
  destroy(): unknown;
}

/** Code of HTTP/2 for a stream that failed. Clients take NO_ERROR for a complete response. */
const internalError = 2;

/**
 * Breaks off a response of which a part may have been sent. Resets its connection, or its stream of
 * HTTP/2: for a client of HTTP/1.0, and for a proxy that speaks it, a connection that is closed
 * normally ends a complete response.
 */
export function abortResponse(response: OpenResponse): void {
  if (response.stream !== undefined) response.stream.close(internalError);
  else if (response.socket === null) response.destroy();
  else resetConnection(response.socket);
}

/** Ends a connection with a reset at once, and discards what the client has not read. */
export function resetConnection(socket: Connection): void {
  // resetAndDestroy() would first wait until the client has read everything, which may never
  // happen.
  Object.assign(socket, { resetAndClosing: true });
  socket.destroy();
}
