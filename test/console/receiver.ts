import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** File that was put to a receiver. */
export interface ReceivedFile {
  /** Header `authorization` of the request. Empty if there is none. */
  authorization: string;
  text: string;
}

/** Receiver of webhooks and files. */
export interface Receiver {
  /** Address of webhooks. */
  url: string;
  /** Received bodies, in order. */
  messages: { type: string }[];
  /** Address of files. */
  filesUrl: string;
  /** Files that were put and not deleted, by path. */
  files: Map<string, ReceivedFile>;
  /** Address that refuses files. */
  refusingUrl: string;
  stop(): Promise<void>;
}

/** Starts a receiver on a free loopback port. */
export async function startReceiver(): Promise<Receiver> {
  const messages: { type: string }[] = [];
  const files = new Map<string, ReceivedFile>();
  const server = createServer(async (request, response) => {
    const { method, url = '', headers } = request;
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString();
    if (url.startsWith('/refused/')) return response.writeHead(403).end('read only');
    if (method === 'PUT') files.set(url, { authorization: headers.authorization ?? '', text });
    else if (method === 'DELETE') files.delete(url);
    else messages.push(JSON.parse(text));
    return response.writeHead(204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/hooks/gleaner`,
    messages,
    filesUrl: `${origin}/inbox/`,
    files,
    refusingUrl: `${origin}/refused/`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
