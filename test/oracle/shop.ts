import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Product } from './model.ts';

/**
 * What a collection of the shop responds: products by id, that it is `gone`, a redirect to another
 * country, or something else (`broken`), which a later job may read.
 */
export type Collection = ReadonlyMap<string, Product> | 'gone' | 'moved' | 'broken';

/** A store whose collections the test controls. */
export interface Shop {
  address: string;
  collections: Map<string, Collection>;
  /** Number of requests for a collection. */
  requests(name: string): number;
  /** Delays responses of a collection. Returns the function that sends those that wait. */
  hold(name: string): () => void;
  stop(): Promise<void>;
}

/** A product as the store's catalogue has it, without a vendor. */
const entryOf = (id: string, { title, price }: Product) => ({
  id,
  title,
  handle: `h${id}`,
  vendor: null,
  tags: [],
  variants: [{ id: `v${id}`, title: 'only', price: price.toFixed(2), available: true }],
  images: [],
  options: [],
});

/** Starts a store. */
export async function startShop(): Promise<Shop> {
  const collections = new Map<string, Collection>();
  const requests = new Map<string, number>();
  const gates = new Map<string, Promise<void>>();
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname, searchParams } = new URL(request.url!, 'http://shop.test');
    const name = /^\/collections\/([^/]+)\/products\.json$/.exec(pathname)?.[1] ?? '';
    const isFirst = (searchParams.get('page') ?? '1') === '1';
    // What a held request shows is what the collection had when it arrived.
    const collection = collections.get(name) ?? 'gone';
    if (isFirst) requests.set(name, (requests.get(name) ?? 0) + 1);
    await gates.get(name);
    response.setHeader('content-type', 'application/json');
    if (pathname.startsWith('/en-gb/')) response.end('{"products":[]}');
    else if (collection === 'gone') response.writeHead(404).end('{"errors":"Not Found"}');
    else if (collection === 'broken') response.end('{"nothing":1}');
    else if (collection === 'moved')
      response.writeHead(302, { location: `/en-gb${request.url}` }).end();
    else {
      const products = isFirst ? [...collection].map(([id, product]) => entryOf(id, product)) : [];
      response.end(JSON.stringify({ products }));
    }
  };
  const server = createServer((request, response) => void respond(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    collections,
    requests: (name) => requests.get(name) ?? 0,
    hold: (name) => {
      const gate = Promise.withResolvers<void>();
      gates.set(name, gate.promise);
      return () => {
        gates.delete(name);
        gate.resolve();
      };
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
