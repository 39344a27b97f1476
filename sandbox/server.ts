import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { changeKey, type PageChange, parseChange, withChanges } from './changes.ts';
import type { Origin, OriginReply, OriginRequest } from './origin.ts';
import { periodicChange } from './periodic-changes.ts';
import { ruleFor, type WireFault } from './wire-faults.ts';

/** Options for startOrigins(). */
export interface OriginsOptions {
  origins: readonly Origin[];
  /**
   * `none`: no faults, and no changes by themselves. `some`: both by the subject's last digits
   * (README.md).
   */
  misbehaviour?: 'none' | 'some';
  /** Delay of every response in milliseconds. */
  latencyMs?: number;
  /** Delay of a slow response in milliseconds. */
  slowMs?: number;
  /** `Retry-After` of a throttled response in seconds. */
  retryAfter?: number;
  /**
   * True if requests that were not sent by a page's script are refused, in the markets that have
   * such pages.
   */
  browserOnly?: boolean;
  /** Returns the time in milliseconds since 1970. Default: the time of the machine. */
  now?: () => number;
}

/** Running fake marketplaces. */
export interface RunningOrigins {
  /** Content of a GLEANER_ORIGINS file. */
  config: Record<string, Record<string, string | boolean>>;
  /** Returns the address of a market's region. */
  address(market: string, region: string): string;
  /**
   * Returns the number of requests by `market/region path`, such as "mkta/sg /api/v4/pdp/get_pc".
   */
  counters(): Record<string, number>;
  /** Returns the maximum number of concurrent requests by `market/region`. */
  peaks(): Record<string, number>;
  /** Changes an item from the next response on, or restores it with null (README.md). */
  changeItem(market: string, region: string, id: string, change: PageChange | null): void;
  /** Closes every connection and server. */
  stop(): Promise<void>;
}

interface Settings {
  changes: Map<string, PageChange>;
  injectsFaults: boolean;
  latencyMs: number;
  slowMs: number;
  retryAfter: number;
  browserOnly: boolean;
  now: () => number;
}

/** Fake origin of a market's region. */
interface RunningOrigin {
  origin: Origin;
  region: string;
  /** Requests by subject, for faults that end after some requests. */
  requestsBySubject: Map<string, number>;
  /** Requests by path. */
  requestsByPath: Map<string, number>;
  /** Requests in progress, and their maximum so far. */
  open: number;
  peak: number;
}

const wrongType: OriginReply = {
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!doctype html><title>Maintenance</title><p>We will be back.</p>',
};

const forbidden: OriginReply = {
  status: 403,
  headers: { 'content-type': 'text/plain' },
  body: 'Forbidden',
};

/** Size in bytes above the limit for pages. */
const hugeBytes = 64 * 1024 * 1024;

function plain(status: number, body: string, headers: Record<string, string>): OriginReply {
  return { status, headers: { 'content-type': 'text/plain', ...headers }, body };
}

function send(response: ServerResponse, { status, headers, body }: OriginReply): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

/** Sends half of a response with the full Content-Length and closes the connection. */
function truncate(response: ServerResponse, { status, headers, body }: OriginReply): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, { ...headers, 'content-length': bytes.length });
  response.write(bytes.subarray(0, bytes.length >> 1), () => response.socket?.destroy());
}

/** Sends spaces until the client closes the connection. */
function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(256 * 1024, 0x20);
  let left = hugeBytes;
  const more = () => {
    while (left > 0) {
      left -= chunk.length;
      if (!response.write(chunk)) return void response.once('drain', more);
    }
    response.end();
  };
  response.writeHead(200, { 'content-type': 'application/json' });
  more();
}

function malformed(reply: OriginReply): OriginReply {
  const text = Buffer.from(reply.body).toString();
  return { ...reply, body: `${text.slice(0, text.length >> 1)}\u0000<!-- ` };
}

async function injectFault(
  does: WireFault,
  request: OriginRequest,
  response: ServerResponse,
  origin: Pick<Origin, 'respond' | 'blocked'>,
  settings: Settings,
): Promise<void> {
  switch (does) {
    case 'slow':
      await wait(settings.slowMs);
      return send(response, origin.respond(request));
    case 'stall':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 });
      return void response.write('{');
    case 'drop':
      return void response.socket?.destroy();
    case 'truncate':
      return truncate(response, origin.respond(request));
    case 'wrong_type':
      return send(response, wrongType);
    case 'throttle':
      return send(
        response,
        plain(429, 'Too Many Requests', { 'retry-after': String(settings.retryAfter) }),
      );
    case 'unavailable':
      return send(response, plain(503, 'Service Unavailable', {}));
    case 'blocked':
      return send(response, origin.blocked?.(request) ?? forbidden);
    case 'malformed':
      return send(response, malformed(origin.respond(request)));
    case 'huge':
      return flood(response);
  }
}

async function read(incoming: IncomingMessage): Promise<string> {
  if (incoming.method === 'GET' || incoming.method === 'HEAD') return '';
  const chunks: Buffer[] = [];
  for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * Path of the item that a request changes: `PUT` with the change as JSON, or `DELETE` to restore
 * it.
 */
const controlPath = /^\/\.sandbox\/items\/([^/]+)$/;

/** Changes or restores an item as the request says. */
async function control(
  { origin, region }: RunningOrigin,
  { changes }: Settings,
  id: string,
  incoming: IncomingMessage,
) {
  const key = changeKey(origin.market, region, decodeURIComponent(id));
  if (incoming.method === 'DELETE') changes.delete(key);
  else if (incoming.method === 'PUT') {
    try {
      changes.set(key, parseChange(await read(incoming)));
    } catch (error) {
      return plain(400, `${(error as Error).message}\n`, {});
    }
  } else return plain(405, 'Use PUT or DELETE.\n', { allow: 'PUT, DELETE' });
  return plain(204, '', {});
}

/** Counts a request, and returns the number of requests so far. */
function countRequest(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

async function serve(
  target: RunningOrigin,
  settings: Settings,
  incoming: IncomingMessage,
  response: ServerResponse,
) {
  const url = new URL(incoming.url ?? '/', `http://${incoming.headers.host ?? 'localhost'}`);
  const changed = controlPath.exec(url.pathname)?.[1];
  if (changed !== undefined)
    return send(response, await control(target, settings, changed, incoming));
  countRequest(target.requestsByPath, url.pathname);
  const request: OriginRequest = {
    method: incoming.method ?? 'GET',
    url,
    headers: incoming.headers as Record<string, string>,
    body: await read(incoming),
    region: target.region,
  };
  if (settings.latencyMs > 0) await wait(settings.latencyMs);
  const refusal = settings.browserOnly ? target.origin.plain?.(request) : undefined;
  if (refusal) return send(response, refusal);
  const subject = settings.injectsFaults ? target.origin.subject?.(request) : undefined;
  const change = periodicChange(subject, settings.now());
  const respond = (original: OriginRequest) =>
    withChanges(settings.changes, () => target.origin.respond(original), change);
  const rule = ruleFor(subject);
  if (rule) {
    const requestNumber = countRequest(target.requestsBySubject, subject!);
    if (requestNumber <= rule.times) {
      return injectFault(rule.does, request, response, { ...target.origin, respond }, settings);
    }
  }
  send(response, respond(request));
}

async function listen(target: RunningOrigin, settings: Settings): Promise<Server> {
  const server = createServer((incoming, response) => {
    target.open += 1;
    target.peak = Math.max(target.peak, target.open);
    response.once('close', () => {
      target.open -= 1;
    });
    serve(target, settings, incoming, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else send(response, plain(500, `the fake origin failed: ${(error as Error).stack}`, {}));
    });
  });
  server.keepAliveTimeout = 30_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  return server;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
}

/**
 * Starts every origin, each region on a free port of 127.0.0.1. Responses and faults depend only on
 * the request, on the changes of items, on the time for subjects with periodic changes, and on the
 * number of earlier requests about its subject.
 */
export async function startOrigins(options: OriginsOptions): Promise<RunningOrigins> {
  const settings: Settings = {
    changes: new Map(),
    injectsFaults: (options.misbehaviour ?? 'some') === 'some',
    latencyMs: options.latencyMs ?? 0,
    slowMs: options.slowMs ?? 300,
    retryAfter: options.retryAfter ?? 1,
    browserOnly: options.browserOnly ?? false,
    now: options.now ?? Date.now,
  };
  const running = new Map<string, RunningOrigin>();
  const servers: Server[] = [];
  const config: RunningOrigins['config'] = {};
  for (const origin of options.origins) {
    for (const region of origin.regions) {
      const target: RunningOrigin = {
        origin,
        region,
        requestsBySubject: new Map(),
        requestsByPath: new Map(),
        open: 0,
        peak: 0,
      };
      const server = await listen(target, settings);
      servers.push(server);
      running.set(`${origin.market}/${region}`, target);
      config[origin.market] ??= region === '' ? { allow_private: true } : {};
      config[origin.market]![region] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    }
  }
  return {
    config,
    address: (market, region) => {
      const address = config[market]?.[region];
      if (typeof address !== 'string')
        throw new Error(`no fake origin ${market}/${region} is running`);
      return address;
    },
    counters: () =>
      Object.fromEntries(
        [...running].flatMap(([name, { requestsByPath }]) =>
          [...requestsByPath].map(([path, count]) => [`${name} ${path}`, count]),
        ),
      ),
    peaks: () => Object.fromEntries([...running].map(([name, { peak }]) => [name, peak])),
    changeItem: (market, region, id, change) => {
      const key = changeKey(market, region, id);
      if (change === null) settings.changes.delete(key);
      else settings.changes.set(key, change);
    },
    stop: async () => {
      await Promise.all(servers.map(close));
    },
  };
}
