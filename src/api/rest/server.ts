import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { appendPeerAddress } from '../../base/client-address.ts';
import {
  type ConnectionLimits,
  defaultConnectionLimits,
  guardConnections,
  httpOptions,
  watchRequest,
} from '../../base/connections.ts';

export interface RunningServer {
  port: number;
  connections(): number;
  /**
   * Accepts no new connections, waits up to `graceMs` milliseconds for active requests, then closes their
   * connections.
   */
  close(graceMs?: number): Promise<void>;
}

/**
 * Serves HTTP/1.1 within the limits of a port; 0 chooses a free port. Rejects with the system's error when it
 * cannot listen.
 */
export async function startServer(
  app: RequestListener,
  port: number,
  host = '0.0.0.0',
  limits: ConnectionLimits = defaultConnectionLimits,
): Promise<RunningServer> {
  let closing = false;
  const latest = new WeakMap<Duplex, ServerResponse<IncomingMessage>>();
  const listener: RequestListener = (request, response) => {
    watchRequest(request, response);
    if (isAmbiguous(request)) return refuse(response, 400);
    latest.set(request.socket, response);
    appendPeerAddress(request);
    response.once('close', () => {
      // An idle connection must not keep a closing server open.
      if (closing) setImmediate(() => server.closeIdleConnections());
    });
    app(request, response);
  };
  // Node would respond to a missing Host without a body.
  const server = createServer({ ...httpOptions(limits), requireHostHeader: false }, listener);
  const sockets = guardConnections(server, limits);
  // The handler sends 100 Continue once it accepts the request.
  server.on('checkContinue', listener);
  server.on('checkExpectation', (_request, response) => refuse(response, 417));
  const refuseNext = (error: NodeJS.ErrnoException, socket: Duplex) => {
    const response = latest.get(socket);
    const isPending = response !== undefined && !response.closed && response.req.complete;
    if (!isPending || error.code === 'ECONNRESET') refuseConnection(error, socket);
    // What follows a complete request must not take the place of its response. After `Connection: close`, the
    // connection ends with it.
    else if (error.code !== 'HPE_CLOSED_CONNECTION')
      response.once('close', () => refuseConnection(error, socket));
  };
  server.on('clientError', refuseNext);
  // Its target is not a path.
  server.on('connect', (_request, socket) => refuseNext(new Error('CONNECT'), socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => sockets.size,
    close: (graceMs = 10_000) => {
      closing = true;
      return close(server, graceMs);
    },
  };
}

function close(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}

/**
 * Returns true for a request that a proxy may have read in another way (RFC 9112, sections 3.2 and 6.1): with
 * another number of Host headers than one, an invalid one, or a transfer coding besides `chunked`.
 */
function isAmbiguous({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  const hosts = rawHeaders.filter((text, index) => index % 2 === 0 && /^host$/i.test(text)).length;
  const { host = '', 'transfer-encoding': coding = 'chunked' } = headers;
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1') || /[\s/?#@\\]/.test(host)) return true;
  return coding.toLowerCase() !== 'chunked';
}

const statuses: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Returns the body of the response to a malformed request, without an id, since it is not logged. */
const refusalOf = (status: number): string =>
  JSON.stringify({ detail: `${STATUS_CODES[status]}: the request cannot be read`, code: 'malformed' });

/** Refuses a malformed request whose headers could be read. */
function refuse(response: ServerResponse, status: number): void {
  const body = refusalOf(status);
  const headers = { 'content-type': 'application/json', 'content-length': body.length, connection: 'close' };
  response.writeHead(status, headers).end(body);
}

/**
 * Responds to a request that could not be parsed in the shape of every other error, and ends the connection.
 */
function refuseConnection(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = statuses[error.code ?? ''] ?? 400;
  const body = refusalOf(status);
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
}
