import { Fault } from '../contract/fault.ts';

const timeouts: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'the response did not start in time',
  UND_ERR_BODY_TIMEOUT: 'the response stalled',
  ETIMEDOUT: 'the connection timed out',
};

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'the host name could not be resolved',
  UND_ERR_SOCKET: 'the connection closed before the response was complete',
};

function codeOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.errors.length > 0) return codeOf(thrown.errors[0]);
  const { code } = thrown as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Error code ENHANCE_YOUR_CALM: too many requests (RFC 9113, section 7). */
const enhanceYourCalm = 11;

/**
 * Converts an error of undici, a socket, DNS, or TLS to a fault: `page_timeout`, `page_too_large`
 * for oversized headers, `page_throttled` if the site closed the connection because of too many
 * requests, otherwise `network`. Returns faults unchanged.
 */
export function networkFault(thrown: unknown, address: string): Fault {
  if (thrown instanceof Fault) return thrown;
  const error = thrown as Error;
  if (error.cause instanceof Fault) return error.cause;
  const code = codeOf(thrown);
  const timeout = timeouts[code];
  if (timeout !== undefined)
    return new Fault('page_timeout', `${address}: ${timeout}`, { cause: thrown });
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new Fault('page_too_large', `${address}: the headers of the response are too large`, {
      cause: thrown,
    });
  }
  // Only for sessions: for a single stream, it may also be this side's rejection of too many
  // headers.
  if (
    code === 'ERR_HTTP2_SESSION_ERROR' &&
    (error as { http2ErrorCode?: number }).http2ErrorCode === enhanceYourCalm
  ) {
    return new Fault('page_throttled', `${address}: the site received too many requests`, {
      cause: thrown,
    });
  }
  const tls = /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_)/.test(code)
    ? `TLS: ${error.message}`
    : undefined;
  const reason =
    reasons[code] ?? tls ?? (code === '' ? error.message : `${error.message} (${code})`);
  return new Fault('network', `${address}: ${reason}`, { cause: thrown });
}
