import http, { type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A webhook message as received. */
export interface ReceivedMessage {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A webhook receiver on a free port. */
export interface WebhookReceiver {
  readonly url: string;
  readonly port: number;
  /** All messages in order, whatever the response was. */
  readonly received: ReceivedMessage[];
  /** Sets how messages are answered from now on. The default is 204. */
  respondWith(listener: RequestListener): void;
  /** Resets connections after this many bytes of a body from now on. Null for never. */
  cutAfter(bytes: number | null): void;
  /** Resolves once `count` messages have been received. */
  waitForMessages(count: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a receiver. */
export async function startReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedMessage[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let cut: number | null = null;
  let respond: RequestListener = (_request, response) => response.writeHead(204).end();
  const server = http.createServer((request, response) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (cut !== null && length > cut) request.socket.resetAndDestroy();
    });
    request.on('end', () => {
      received.push({
        path: request.url!,
        headers: request.headers,
        body: Buffer.concat(chunks).toString(),
      });
      for (const { count, resolve } of waiting) if (received.length >= count) resolve();
      respond(request, response);
    });
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    received,
    respondWith(listener) {
      respond = listener;
    },
    cutAfter(bytes) {
      cut = bytes;
    },
    waitForMessages: (count) =>
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
