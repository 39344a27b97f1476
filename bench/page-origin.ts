import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createSecureServer } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { certificate } from '../test/support/servers/certificate.ts';
import { benchPages } from './support/pages.ts';

/** Ports by protocol. */
export interface PageOriginPorts {
  plain: number;
  tls: number;
  h2: number;
}

// Serves a product page without TLS, over TLS with HTTP/1.1 only, and over TLS with HTTP/2.
const { body } = benchPages(1)[0]!;
const headers = { 'content-type': 'application/json', 'content-length': body.length };
const serve = (_request: unknown, response: Pick<ServerResponse, 'writeHead' | 'end'>) => {
  response.writeHead(200, headers);
  response.end(body);
};
const listener = (request: IncomingMessage, response: ServerResponse) => serve(request, response);
const servers = {
  plain: createServer(listener),
  tls: createTlsServer(certificate, listener),
  h2: createSecureServer(certificate, (request, response) => serve(request, response as never)),
};
const ports: Record<string, number> = {};
for (const [name, server] of Object.entries(servers)) {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ports[name] = (server.address() as AddressInfo).port;
}
servers.plain.keepAliveTimeout = 60_000;
servers.tls.keepAliveTimeout = 60_000;
process.once('disconnect', () => process.exit(0));
process.send!(ports);
