import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { benchPages } from './support/pages.ts';

// Serves pregenerated product pages: `origin.ts <items> [delay in ms]`.
// Replies to every message with the number of requests so far.
const pages = new Map(
  benchPages(Number(process.argv[2])).map(({ item_id, body }) => [item_id, body]),
);

const delayMs = Number(process.argv[3] ?? 0);
let requests = 0;

const serve = (request: IncomingMessage, response: ServerResponse) => {
  const itemId = /[?&]item_id=(\d+)/.exec(request.url!)?.[1];
  const body = pages.get(itemId ?? '');
  response.writeHead(body === undefined ? 404 : 200, {
    'content-type': 'application/json',
    'content-length': body?.length ?? 0,
  });
  response.end(body);
};
const server = createServer((request, response) => {
  requests += 1;
  if (delayMs === 0) serve(request, response);
  else setTimeout(() => serve(request, response), delayMs);
});
server.keepAliveTimeout = 60_000;
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () =>
  process.send!((server.address() as AddressInfo).port),
);
process.on('message', () => process.send!(requests));
process.once('disconnect', () => process.exit(0));
