import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttp2Server, type ServerHttp2Session } from 'node:http2';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { Fault } from '../base/fault.ts';

/** A listening server. */
export interface ListeningServer {
  port: number;
  /** Stops listening, lets calls under way end for a moment, then closes connections. */
  close(): Promise<void>;
}

/** First bytes of an HTTP/2 connection with prior knowledge. */
const preface = 'PRI * HTTP/2.0';

/** Largest message accepted: 50,000 items and room to spare. */
const readMaxBytes = 32 * 1024 * 1024;

/** How long calls under way may take once closing has begun. */
const graceMs = 3_000;

/**
 * Serves Connect routes on one port without TLS: gRPC over HTTP/2 with prior knowledge, and Connect
 * and gRPC-Web over HTTP/1.1 too. Fault `unavailable` when the port is taken.
 */
export async function listen(
  routes: (router: ConnectRouter) => void,
  host: string,
  port: number,
): Promise<ListeningServer> {
  const handler = connectNodeAdapter({ routes, readMaxBytes }) as RequestListener;
  const http1 = createHttpServer(handler);
  const http2 = createHttp2Server(handler as never);
  const sockets = new Set<Socket>();
  const sessions = new Set<ServerHttp2Session>();
  http2.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    // Read while paused and put back: HTTP/2 takes over what a paused socket holds, and nothing else.
    socket.once('readable', () => {
      const chunk: Buffer | null = socket.read();
      if (chunk === null) return;
      socket.unshift(chunk);
      const isHttp2 = preface.startsWith(chunk.subarray(0, preface.length).toString('latin1'));
      (isHttp2 ? http2 : http1).emit('connection', socket);
    });
  });
  let closing = false;
  http1.on('request', (_request, response) => {
    // A connection that is kept alive must not keep a closing server open.
    response.once('close', () => closing && setImmediate(() => http1.closeIdleConnections()));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new Fault('unavailable', `Port ${port} cannot be listened on: ${error.message}`)),
    );
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      closing = true;
      const closed = new Promise((resolve) => server.close(resolve));
      http1.closeIdleConnections();
      // Told that no further call is taken, a client's connection ends with the calls under way.
      for (const session of sessions) session.close();
      const timer = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, graceMs);
      for (const socket of sockets) if (socket.bytesWritten === 0) socket.destroy();
      await closed;
      clearTimeout(timer);
    },
  };
}
