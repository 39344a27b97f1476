import { createServer as createHttpServer, METHODS } from 'node:http';
import {
  constants,
  createServer as createHttp2Server,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import {
  bindSession,
  type ConnectionLimits,
  createStreamLimit,
  defaultConnectionLimits,
  guardConnections,
  httpOptions,
  watchRequest,
} from '../../base/connections.ts';
import { appendPeerAddress, refuseMalformed } from '../../base/incoming-requests.ts';
import { resetConnection } from '../../contract/abort-response.ts';
import { formatConnectError, type RpcListener } from './adapter.ts';

export interface ListeningServer {
  port: number;
  connections(): number;
  /** Stops listening, gives calls in progress 3 seconds to end, then closes connections. */
  close(): Promise<void>;
}

/** First bytes of an HTTP/2 connection with prior knowledge. */
const preface = 'PRI * HTTP/2.0';

/** Returns true if a request of HTTP/1.1 can begin like this. */
const beginsRequest = (start: string) =>
  METHODS.some((method) => `${method} `.startsWith(start.slice(0, method.length + 1)));

/** Time for calls in progress to end while closing, in milliseconds. */
const graceMs = 3_000;

/**
 * Serves RPC on one port without TLS: HTTP/2 with prior knowledge, and HTTP/1.1. Rejects with the
 * system's error when it cannot listen.
 */
export async function listen(
  listener: RpcListener,
  host: string,
  port: number,
  limits: ConnectionLimits = defaultConnectionLimits,
): Promise<ListeningServer> {
  const admitsStream = createStreamLimit(limits);
  const handler: RpcListener = (request, response) => {
    if ('stream' in request && (request.stream.destroyed || !admitsStream(request))) return;
    watchRequest(request, response);
    appendPeerAddress(request);
    listener(request, response);
  };
  const server = createHttpServer({ ...httpOptions(limits), requireHostHeader: false });
  server.on('request', refuseMalformed(server, handler, formatConnectError));
  const http2 = createLimitedHttp2(limits, handler);
  // The HTTP/1.1 server listens, so that node:http checks its timeouts; HTTP/2 connections are
  // handed over.
  const [accept] = server.listeners('connection') as [(socket: Socket) => void];
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => socket.destroy());
    // Read while paused and put back: HTTP/2 takes over only the buffered bytes of a paused socket.
    socket.once('readable', () => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      socket.unshift(chunk);
      const start = chunk.subarray(0, 32).toString('latin1');
      if (preface.startsWith(start.slice(0, preface.length))) handOver(socket);
      else if (beginsRequest(start)) accept.call(server, socket);
      else socket.destroy();
    });
  });
  const sockets = guardConnections(server, limits);
  const sessions = new Set<ServerHttp2Session>();
  const handOver = (socket: Socket) => {
    // As node:http2 sets it. Otherwise calls of a client that has left would never end.
    socket.allowHalfOpen = false;
    http2.once('session', (session) => bindSession(session, socket, limits));
    http2.emit('connection', socket);
  };
  http2.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  let closing = false;
  server.on('request', (_request, response) => {
    // Keep-alive connections must not keep a closing server open.
    response.once('close', () => closing && setImmediate(() => server.closeIdleConnections()));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => sockets.size,
    async close() {
      closing = true;
      const closed = new Promise((resolve) => server.close(resolve));
      // GOAWAY: a client's connection ends after its calls in progress.
      for (const session of sessions) session.close();
      const timer = setTimeout(() => {
        for (const socket of sockets) resetConnection(socket);
      }, graceMs);
      for (const socket of sockets) if (socket.bytesWritten === 0) socket.destroy();
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Creates an HTTP/2 server with the limits of a port. */
function createLimitedHttp2(limits: ConnectionLimits, handler: RpcListener) {
  const { maxStreams, idleMs, requestMs } = limits;
  const server = createHttp2Server(
    {
      settings: {
        maxConcurrentStreams: maxStreams,
        maxHeaderListSize: 16 * 1024,
        enablePush: false,
      },
      maxHeaderListPairs: 100,
      maxSettings: 32,
      maxOutstandingPings: 4,
      // Limits of all streams. bindSession() limits streams without an accepted request.
      streamResetBurst: 10_000,
      streamResetRate: 1_000,
    },
    handler as never,
  );
  server.on('session', (session) => {
    let streams = 0;
    const end = () => session.destroy();
    let idle = setTimeout(end, idleMs);
    session.on('stream', (stream: ServerHttp2Stream) => {
      streams += 1;
      clearTimeout(idle);
      const late = setTimeout(() => {
        if (!stream.state.remoteClose) stream.close(constants.NGHTTP2_CANCEL);
      }, requestMs);
      stream.once('close', () => {
        clearTimeout(late);
        streams -= 1;
        if (streams === 0 && !session.destroyed) idle = setTimeout(end, idleMs);
      });
    });
    session.once('close', () => clearTimeout(idle));
  });
  return server;
}
