import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import {
  constants,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { resetConnection } from '../contract/abort-response.ts';
import type { LongRequestKind } from '../contract/caller.ts';
import { createPortShares, type PortShares } from './port-shares.ts';

/** Limits of the connections of one port. */
export interface ConnectionLimits {
  /**
   * Maximum number of open connections. A further one replaces one without an accepted request in
   * progress; if all have one, it is closed. Also the number of requests in progress of which
   * accounts have shares.
   */
  maxConnections: number;
  /**
   * Timeout for the headers of a request and for the first byte of a connection, in milliseconds.
   */
  headersMs: number;
  /** Timeout for a whole request with its body, in milliseconds. */
  requestMs: number;
  /** Time that a connection stays open between requests, in milliseconds. */
  idleMs: number;
  /** Interval at which connections are checked, in milliseconds. */
  checkMs: number;
  /**
   * Maximum bytes that a connection may send between accepted requests, in refused requests or
   * outside any request.
   */
  maxRefusedBytes: number;
  /** Maximum concurrent streams of an HTTP/2 connection. */
  maxStreams: number;
  /**
   * Maximum concurrent streams of all HTTP/2 connections. A further one replaces the oldest without
   * an accepted request; if all have one, it is refused.
   */
  maxPortStreams: number;
  /**
   * Streams without an accepted request that an HTTP/2 connection may reset in a burst, and per
   * second after that. Streams of a gateway are accepted: it resets them when clients disconnect.
   */
  maxResets: { burst: number; perSecond: number };
}

/** Default limits of every port. */
export const defaultConnectionLimits: ConnectionLimits = {
  maxConnections: 2_000,
  headersMs: 15_000,
  requestMs: 300_000,
  idleMs: 65_000,
  checkMs: 5_000,
  maxRefusedBytes: 1024 * 1024,
  maxStreams: 200,
  // A stream takes 30 KB. HTTP/1.1 has one request per connection.
  maxPortStreams: 2_000,
  maxResets: { burst: 1_000, perSecond: 100 },
};

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

/** State of a connection, stored on its socket and, for HTTP/2, on its streams. */
const connectionKey = Symbol('connection');
/**
 * Result of authentication, stored on the request or its stream: WeakMaps of requests cost too much
 * garbage collection.
 */
const admission = Symbol('admission');
/** Function that ends an accepted request in the shares of its port, stored in the same place. */
const ending = Symbol('ending');

interface Connection {
  socket: Socket;
  shares: PortShares;
  /** Account of its last accepted request. Its client's address before there is one. */
  owner: string;
  /** Accepted requests in progress. */
  active: number;
  /** Responses in progress, also to requests that were not accepted. */
  responses: number;
  /**
   * Streams that were reset without an accepted request, less those that `maxResets` allows per
   * second.
   */
  resets: number;
  /** Bytes that the connection had sent when its last accepted request ended. */
  acceptedBytes: number;
  /** Time of its start, in milliseconds. */
  since: number;
}

type Carrier = object & { [connectionKey]?: Connection };
type Admitted = { [admission]?: 'accepted' | 'refused' | 'replaced'; [ending]?: () => void };

const connectionOf = (request: Request): Connection | undefined =>
  (('stream' in request ? request.stream : request.socket) as Carrier | undefined)?.[connectionKey];

/** Returns the object that stores the admission of a request. */
const admittedOf = (request: Request) =>
  ('stream' in request ? request.stream : request) as Admitted;

/** Options for node:http that enforce the limits on HTTP/1.1. */
export const httpOptions = ({ headersMs, requestMs, idleMs, checkMs }: ConnectionLimits) => ({
  headersTimeout: headersMs,
  requestTimeout: requestMs,
  keepAliveTimeout: idleMs,
  connectionsCheckingInterval: checkMs,
  maxHeaderSize: 16 * 1024,
});

/**
 * Marks a request whose caller was authenticated. Its connection may send any amount until the
 * request ends. `account`: what the caller's requests are counted by.
 */
export function acceptRequest(request: Request, account?: string): void {
  const connection = connectionOf(request);
  if (connection !== undefined && account !== undefined) connection.owner = account;
  if (connection === undefined || admittedOf(request)[admission] === 'accepted') return;
  // A stream that was reset before the caller was authenticated has been counted.
  if ('stream' in request && request.stream.closed) connection.resets -= 1;
  else {
    connection.active += 1;
    admittedOf(request)[ending] = connection.shares.accept();
  }
  admittedOf(request)[admission] = 'accepted';
}

const never = new AbortController().signal;

/**
 * Counts an accepted request that may last long, until its response is closed. Returns a signal
 * that aborts when its wait should end early. Throws `rate_limited` if the account has its share of
 * the port, later if many requests were refused.
 */
export async function beginLongRequest(
  request: Request,
  response: Response,
  { account, kind }: { account: string; kind: LongRequestKind },
): Promise<AbortSignal> {
  const connection = connectionOf(request);
  if (connection === undefined || response.destroyed) return never;
  const { shares } = connection;
  try {
    const { early, end } = shares.begin(account, kind);
    response.once('close', end);
    return early;
  } catch (error) {
    // A client that repeats the request needs no connection until then.
    if (shares.isFilling && 'shouldKeepAlive' in response) response.shouldKeepAlive = false;
    withdraw(request, connection);
    await delayResponse(response, shares.delayRefusal(performance.now()));
    throw error;
  }
}

/** Takes back that a request was accepted, so that its connection may be replaced. */
function withdraw(request: Request, connection: Connection): void {
  const admitted = admittedOf(request);
  const end = admitted[ending];
  admitted[admission] = 'refused';
  if (end === undefined) return;
  delete admitted[ending];
  connection.active -= 1;
  end();
}

/** Resolves after some milliseconds, or when the client has left. */
async function delayResponse(response: Response, ms: number): Promise<void> {
  if (ms < 1) return;
  const left = new AbortController();
  const leave = () => left.abort();
  response.once('close', leave);
  await setTimeout(ms, undefined, { signal: left.signal }).catch(() => {});
  response.off('close', leave);
}

/** Marks a request that was refused for lack of a valid key, whatever its response status. */
export function refuseRequest(request: Request): void {
  admittedOf(request)[admission] ??= 'refused';
}

/** Counts the requests of a connection. Call it for every request of a guarded server. */
export function watchRequest(request: Request, response: Response): void {
  const connection = connectionOf(request);
  if (connection === undefined) return;
  connection.responses += 1;
  response.once('close', () => {
    connection.responses -= 1;
    const { [admission]: admitted, [ending]: end } = admittedOf(request);
    if (end !== undefined) {
      connection.active -= 1;
      end();
    }
    if (admitted === 'accepted' || (response.statusCode < 400 && admitted !== 'refused'))
      connection.acceptedBytes = connection.socket.bytesRead;
  });
}

/**
 * Returns a function that counts an HTTP/2 request against `maxPortStreams`, and returns false if
 * it refused the request.
 */
export function createStreamLimit({ maxPortStreams }: ConnectionLimits) {
  /** In the order in which they arrived. */
  const open = new Set<Http2ServerRequest>();
  return (request: Http2ServerRequest): boolean => {
    if (open.size >= maxPortStreams) {
      const replaced = open
        .values()
        .find((request) => admittedOf(request)[admission] !== 'accepted');
      open.delete(replaced ?? request);
      // The client may repeat a refused request: nothing has been done for it.
      admittedOf(replaced ?? request)[admission] = 'replaced';
      (replaced ?? request).stream.close(constants.NGHTTP2_REFUSED_STREAM);
      if (replaced === undefined) return false;
    }
    open.add(request);
    request.stream.once('close', () => open.delete(request));
    return true;
  };
}

/**
 * Associates the streams of an HTTP/2 session with its socket, and limits how many it may reset.
 */
export function bindSession(
  session: ServerHttp2Session,
  socket: Socket,
  { maxResets }: ConnectionLimits,
): void {
  const connection = (socket as Carrier)[connectionKey];
  if (connection === undefined) return;
  // Before the listener that handles the request.
  session.prependListener('stream', (stream) => {
    (stream as Carrier)[connectionKey] = connection;
    stream.once('close', () => {
      const admitted = (stream as Admitted)[admission];
      if (stream.rstCode === constants.NGHTTP2_NO_ERROR) return;
      if (admitted === 'accepted' || admitted === 'replaced') return;
      connection.resets += 1;
      if (connection.resets <= maxResets.burst || session.destroyed) return;
      session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
      session.destroy();
    });
  });
}

/**
 * Returns the connection that a further one replaces, so that clients that only hold connections
 * cannot block other clients: the oldest that never had an accepted request, or else the oldest
 * idle one of the owner with the most connections, so that others keep theirs. Null if all are in
 * use.
 */
function replaceable(open: Iterable<Connection>): Connection | null {
  const byOwner = new Map<string, { count: number; idle: Connection | null }>();
  for (const connection of open) {
    const isIdle = connection.active === 0;
    if (isIdle && connection.acceptedBytes === 0) return connection;
    const owner = byOwner.get(connection.owner) ?? { count: 0, idle: null };
    owner.count += 1;
    if (isIdle) owner.idle ??= connection;
    byOwner.set(connection.owner, owner);
  }
  let largest: { count: number; idle: Connection } | null = null;
  for (const { count, idle } of byOwner.values())
    if (idle !== null && count > (largest?.count ?? 0)) largest = { count, idle };
  return largest?.idle ?? null;
}

/**
 * Enforces the limits that node:http does not: the number of connections, connections that send
 * nothing, and connections that send many bytes without an accepted request. Returns the open
 * sockets.
 */
export function guardConnections(server: Server, limits: ConnectionLimits): ReadonlySet<Socket> {
  /** In the order in which they were opened. */
  const open = new Set<Connection>();
  const sockets = new Set<Socket>();
  const shares = createPortShares(limits.maxConnections);
  server.prependListener('connection', (socket: Socket) => {
    const connection: Connection = {
      socket,
      shares,
      owner: socket.remoteAddress ?? '',
      active: 0,
      responses: 0,
      resets: 0,
      acceptedBytes: 0,
      since: performance.now(),
    };
    (socket as Carrier)[connectionKey] = connection;
    const replaced = open.size < limits.maxConnections ? null : (replaceable(open) ?? connection);
    open.add(connection);
    sockets.add(socket);
    socket.once('close', () => {
      open.delete(connection);
      sockets.delete(socket);
    });
    if (replaced === null) return;
    open.delete(replaced);
    if (replaced.responses > 0) resetConnection(replaced.socket);
    else replaced.socket.destroy();
  });
  const check = () => {
    const now = performance.now();
    const allowedResets = (limits.maxResets.perSecond * limits.checkMs) / 1_000;
    for (const connection of open) {
      const { socket, active, acceptedBytes, since } = connection;
      connection.resets = Math.max(0, connection.resets - allowedResets);
      const isSilent = socket.bytesRead === 0 && now - since >= limits.headersMs;
      const refusedBytes = active > 0 ? 0 : socket.bytesRead - acceptedBytes;
      if (isSilent || refusedBytes > limits.maxRefusedBytes) socket.destroy();
    }
  };
  const timer = setInterval(check, limits.checkMs);
  timer.unref();
  server.once('close', () => clearInterval(timer));
  return sockets;
}
