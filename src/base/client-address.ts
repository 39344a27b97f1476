import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Http2ServerRequest } from 'node:http2';

/**
 * Header with the addresses of a request's senders, the client's first. Only the last one is
 * certain.
 */
export const forwardedForHeader = 'x-forwarded-for';

/** Maximum length of the addresses that clientAddress() returns. */
const maxLength = 200;

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
  (header ?? '').slice(-maxLength);
