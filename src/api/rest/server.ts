import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import {
  type ConnectionLimits,
  defaultConnectionLimits,
  guardConnections,
  httpOptions,
  watchRequest,
} from '../../base/connections.ts';
import { appendPeerAddress, refuseMalformed } from '../../base/incoming-requests.ts';
import { resetConnection } from '../../contract/abort-response.ts';

export interface RunningServer {
  port: number;
  connections(): number;
  /**
   * Accepts no new connections, waits up to `graceMs` milliseconds for active requests, then closes
   * their connections.
   */
  close(graceMs?: number): Promise<void>;
}

/**
 * Serves HTTP/1.1 within the limits of a port; 0 chooses a free port. Rejects with the system's
 * error when it cannot listen.
 */
export async function startServer(
  app: RequestListener,
  port: number,
  host = '0.0.0.0',
  limits: ConnectionLimits = defaultConnectionLimits,
): Promise<RunningServer> {
  let closing = false;
  // Node would respond to a missing Host without a body.
  const server = createServer({ ...httpOptions(limits), requireHostHeader: false });
  const handle: RequestListener = (request, response) => {
    appendPeerAddress(request);
    response.once('close', () => {
      // An idle connection must not keep a closing server open.
      if (closing) setImmediate(() => server.closeIdleConnections());
    });
    app(request, response);
  };
  const serve = refuseMalformed(server, handle, formatRefusal);
  const listener: RequestListener = (request, response) => {
    watchRequest(request, response);
    serve(request, response);
  };
  const sockets = guardConnections(server, limits);
  server.on('request', listener);
  // The handler sends 100 Continue once it accepts the request.
  server.on('checkContinue', listener);
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
      return close(server, sockets, graceMs);
    },
  };
}

/** A malformed request has no id, since it is not logged. */
const formatRefusal = (_status: number, detail: string) =>
  JSON.stringify({ detail, code: 'malformed' });

function close(server: Server, sockets: ReadonlySet<Socket>, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      for (const socket of sockets) resetConnection(socket);
    }, graceMs);
    server.close(() => {
      clearTimeout(timer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
