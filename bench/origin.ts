import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { benchPages } from './support/pages.ts';

// Serves the product pages of so many items, made beforehand, so that serving costs as little as it can.
const pages = new Map(benchPages(Number(process.argv[2])).map(({ item_id, body }) => [item_id, body]));

const server = createServer((request, response) => {
  const itemId = /[?&]item_id=(\d+)/.exec(request.url!)?.[1];
  const body = pages.get(itemId ?? '');
  response.writeHead(body === undefined ? 404 : 200, {
    'content-type': 'application/json',
    'content-length': body?.length ?? 0,
  });
  response.end(body);
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit(0));
