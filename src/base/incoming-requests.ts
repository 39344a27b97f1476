import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Http2ServerRequest } from 'node:http2';
import type { Duplex } from 'node:stream';

/**
 * Header with the addresses of a request's senders, the client's first. Only the last one is
 * certain.
 */
export const forwardedForHeader = 'x-forwarded-for';

/** Maximum length of the addresses that clientAddress() returns. */
const maxAddressLength = 200;

/** Prefix of an IPv4 address on a socket of IPv6. */
const mappedPrefix = '::ffff:';

/** Appends the address of the peer to the request's X-Forwarded-For, as a proxy does. */
export function appendPeerAddress(request: IncomingMessage | Http2ServerRequest): void {
  const headers: IncomingHttpHeaders = request.headers;
  const address = request.socket?.remoteAddress ?? '';
  const peer = address.startsWith(mappedPrefix) ? address.slice(mappedPrefix.length) : address;
  const earlier = headers[forwardedForHeader];
  headers[forwardedForHeader] = earlier === undefined ? peer : `${earlier}, ${peer}`;
}

/**
 * Returns the addresses of a request's senders; the end of a long list, which is the part that
 * clients cannot choose.
 */
export const clientAddress = (header: string | null | undefined): string =>
  (header ?? '').slice(-maxAddressLength);

/** Formats the JSON body of an error in the shape of a port. */
export type FormatRefusal = (status: number, message: string) => string;

/**
 * Response to the last request of a connection, stored on its socket: a WeakMap costs too much
 * garbage collection.
 */
const latestResponse = Symbol('latest response');
interface Responding {
  [latestResponse]?: ServerResponse<IncomingMessage>;
}

/**
 * Returns the listener of an HTTP/1.1 server that refuses malformed requests, in the shape of the
 * port's other errors, and calls `listener` for the others. Create the server with
 * `requireHostHeader: false`: Node would respond to a missing Host without a body.
 */
export function refuseMalformed(
  server: Server,
  listener: RequestListener,
  format: FormatRefusal,
): RequestListener {
  const refuseNext = (error: NodeJS.ErrnoException, socket: Duplex & Responding) => {
    const response = socket[latestResponse];
    const isPending = response !== undefined && !response.closed && response.req.complete;
    if (!isPending || error.code === 'ECONNRESET') refuseConnection(error, socket, format);
    // What follows a complete request must not take the place of its response. After
    // `Connection: close`, the connection ends with it.
    else if (error.code !== 'HPE_CLOSED_CONNECTION')
      response.once('close', () => refuseConnection(error, socket, format));
  };
  server.on('checkExpectation', (_request, response) => refuse(response, 417, format));
  server.on('clientError', refuseNext);
  // Its target is not a path.
  server.on('connect', (_request, socket) => refuseNext(new Error('CONNECT'), socket));
  return (request, response) => {
    if (isAmbiguous(request)) return refuse(response, 400, format);
    (request.socket as Responding)[latestResponse] = response;
    listener(request, response);
  };
}

/**
 * Returns true for a request that a proxy may have read in another way (RFC 9112, sections 3.2 and
 * 6.1): with another number of Host headers than one, an invalid one, or a transfer coding besides
 * `chunked`.
 */
function isAmbiguous({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  let hosts = 0;
  // Names are followed by their values.
  for (let index = 0; index < rawHeaders.length; index += 2)
    if (rawHeaders[index]!.length === 4 && rawHeaders[index]!.toLowerCase() === 'host') hosts += 1;
  const { host = '', 'transfer-encoding': coding = 'chunked' } = headers;
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1') || /[\s/?#@\\]/.test(host)) return true;
  return coding.toLowerCase() !== 'chunked';
}

const statuses: Record<string, number> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

const messageOf = (status: number): string => `${STATUS_CODES[status]}: the request cannot be read`;

/** Refuses a malformed request whose headers could be read. */
function refuse(response: ServerResponse, status: number, format: FormatRefusal): void {
  const body = format(status, messageOf(status));
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    connection: 'close',
  };
  response.writeHead(status, headers).end(body);
}

/** Responds to a request that could not be parsed, and ends the connection. */
function refuseConnection(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  format: FormatRefusal,
): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  const status = statuses[error.code ?? ''] ?? 400;
  const body = format(status, messageOf(status));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
