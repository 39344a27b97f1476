import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Webhook receiver that records messages. */
export interface Receiver {
  url: string;
  /** Received bodies, in order. */
  messages: { type: string }[];
  stop(): Promise<void>;
}

/** Starts a receiver on a free loopback port. */
export async function startReceiver(): Promise<Receiver> {
  const messages: { type: string }[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    messages.push(JSON.parse(Buffer.concat(parts).toString()));
    response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks/gleaner`,
    messages,
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
