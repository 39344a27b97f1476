import http, { type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message as it came. */
export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A real receiver of webhooks, on a port of its own. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** Whatever came, in order, however it was answered. */
  readonly received: Received[];
  /** Answers from now on so; at first with 204. */
  answer(listener: RequestListener): void;
  /** Resolves once so many messages have come. */
  came(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts one. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let answer: RequestListener = (_request, response) => response.writeHead(204).end();
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      received.push({
        path: request.url!,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      for (const { count, resolve } of waiting) if (received.length >= count) resolve();
      answer(request, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    answer(listener) {
      answer = listener;
    },
    came: (count) =>
      new Promise((resolve) => {
        if (received.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
