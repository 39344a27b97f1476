import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { benchPages } from './support/pages.ts';

// Serves pages whose script requests a product.
const { body: product } = benchPages(1)[0]!;
const page = `<!doctype html><title>Shop</title><script>fetch('/data' + location.search)</script>`;
const server = createServer((request, response) => {
  const isPage = request.url!.startsWith('/page');
  response.writeHead(200, { 'content-type': isPage ? 'text/html' : 'application/json' });
  response.end(isPage ? page : product);
});
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
process.once('disconnect', () => process.exit(0));
