import http, { type IncomingHttpHeaders, type RequestListener } from 'node:http';
import net, { type AddressInfo } from 'node:net';

/** A local site that records its requests. */
export interface Site {
  port: number;
  requests: { target: string; headers: IncomingHttpHeaders; raw: string[] }[];
  connections(): number;
  stop(): Promise<void>;
}

/** Starts a site with a request listener. */
export async function startSite(listener: RequestListener): Promise<Site> {
  let connections = 0;
  const requests: Site['requests'] = [];
  const server = http.createServer({ maxHeaderSize: 1024 * 1024 }, (request, response) => {
    requests.push({
      target: `${request.method} ${request.url}`,
      headers: request.headers,
      raw: request.rawHeaders,
    });
    listener(request, response);
  });
  server.on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    connections: () => connections,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A server in the internal network, which requests must not reach. */
export type InternalServer = Omit<Site, 'requests'>;

/** Starts an internal server that counts connections on IPv4 and IPv6. */
export async function startInternalServer(): Promise<InternalServer> {
  let connections = 0;
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.end('HTTP/1.1 200 OK\r\ncontent-length: 15\r\n\r\n{"products":[]}');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: 0, host: '::', ipv6Only: false }, resolve);
  }).catch(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
