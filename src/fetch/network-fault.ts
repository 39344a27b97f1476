import { Fault } from '../contract/fault.ts';

const timeouts: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: 'no connection could be made in time',
  UND_ERR_HEADERS_TIMEOUT: 'the site did not begin to answer in time',
  UND_ERR_BODY_TIMEOUT: 'the site stopped in the middle of its answer',
  ETIMEDOUT: 'no connection could be made in time',
};

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'the host name could not be resolved',
  UND_ERR_SOCKET: 'the connection ended before the answer was complete',
};

function codeOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return codeOf(thrown.errors[0]);
  const { code } = thrown as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** A site's word for too many requests, as HTTP/2 has it (RFC 9113, 7: ENHANCE_YOUR_CALM). */
const calm = 11;

/** Renames what undici, sockets, DNS and TLS throw into our few: `page_timeout`, `page_too_large`
 *  for oversized headers, `page_throttled` where a site ends a connection over too many requests, else
 *  `network`. A fault stays itself. */
export function networkFault(thrown: unknown, address: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const error = thrown as Error;
  if (error.cause instanceof Fault) return error.cause;
  const code = codeOf(thrown);
  const timeout = timeouts[code];
  if (timeout !== undefined) return new Fault('page_timeout', `${address}: ${timeout}`, { cause: thrown });
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new Fault('page_too_large', `${address}: the answer's headers are too large`, { cause: thrown });
  }
  // Of one request it may as well be our own word for an answer with too many headers.
  if (code === 'ERR_HTTP2_SESSION_ERROR' && (error as { http2ErrorCode?: number }).http2ErrorCode === calm) {
    return new Fault('page_throttled', `${address}: the site asks for fewer requests`, { cause: thrown });
  }
  const tls = /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/.test(code)
    ? `TLS: ${error.message}`
    : undefined;
  const reason = reasons[code] ?? tls ?? (code === '' ? error.message : `${error.message} (${code})`);
  return new Fault('network', `${address}: ${reason}`, { cause: thrown });
}
