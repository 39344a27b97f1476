import { createServer, type RequestListener, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import {
  type ConnectionLimits,
  defaultConnectionLimits,
  guardConnections,
  httpOptions,
  watchRequest,
} from '../src/base/connections.ts';

/** A listening gateway. */
export interface RunningGateway {
  /** The port it listens on: the one asked for, or the one given for 0. */
  port: number;
  /** Takes no new connections, lets requests under way end for `graceMs`, then cuts them off. */
  close(graceMs?: number): Promise<void>;
}

/** Serves HTTP/1.1 within the limits of a port. Rejects with the system's error when the port can't be had. */
export async function startGateway(
  app: RequestListener,
  port: number,
  host = '0.0.0.0',
  limits: ConnectionLimits = defaultConnectionLimits,
): Promise<RunningGateway> {
  let closing = false;
  const listener: RequestListener = (request, response) => {
    watchRequest(request, response);
    response.once('close', () => {
      // A connection that is kept alive must not keep a closing server open.
      if (closing) setImmediate(() => server.closeIdleConnections());
    });
    app(request, response);
  };
  const server = createServer(httpOptions(limits), listener);
  guardConnections(server, limits);
  // The handler asks for the body once it knows that it wants it.
  server.on('checkContinue', listener);
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

const statuses: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Answers what is no HTTP request in the shape of every other error. */
function refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = statuses[error.code ?? ''] ?? 400;
  const body = JSON.stringify({ detail: `${STATUS_CODES[status]}: the request can't be read` });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
}
