import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
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
  const listener: RequestListener = (request, response) => {
    watchRequest(request, response);
    const hosts = request.rawHeaders.filter((text, index) => index % 2 === 0 && /^host$/i.test(text)).length;
    if (hosts > 1 || (hosts === 0 && request.httpVersion === '1.1')) {
      // RFC 9112, section 3.2: a proxy may have read the other of two.
      refuseConnection(new Error(`${hosts} Host headers`), request.socket);
      return;
    }
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
  server.on('checkExpectation', ({ socket }) => {
    refuseConnection(Object.assign(new Error('unknown expectation'), { code: unknownExpectation }), socket);
  });
  server.on('clientError', refuseConnection);
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

const unknownExpectation = 'UNKNOWN_EXPECTATION';

const statuses: Record<string, number> = {
  [unknownExpectation]: 417,
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Responds to a malformed HTTP request in the shape of every other error, without an id, since it is not
 * logged.
 */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = statuses[error.code ?? ''] ?? 400;
  const detail = `${STATUS_CODES[status]}: the request cannot be read`;
  const body = JSON.stringify({ detail, code: 'malformed' });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
}
