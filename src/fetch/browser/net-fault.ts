import { Fault } from '../../contract/fault.ts';

const timeouts: readonly string[] = ['ERR_TIMED_OUT', 'ERR_CONNECTION_TIMED_OUT'];

const incomplete = 'the connection closed before the response was complete';

const reasons: Readonly<Record<string, string>> = {
  ERR_ABORTED: 'the request was aborted',
  ERR_CONNECTION_CLOSED: incomplete,
  ERR_CONNECTION_REFUSED: 'the connection was refused',
  ERR_CONNECTION_RESET: 'the connection was reset',
  ERR_CONTENT_LENGTH_MISMATCH: incomplete,
  ERR_EMPTY_RESPONSE: incomplete,
  ERR_INCOMPLETE_CHUNKED_ENCODING: incomplete,
  ERR_NAME_NOT_RESOLVED: 'the host name does not exist',
};

/** Converts a network error of the browser ("net::ERR_EMPTY_RESPONSE") to a fault: `page_timeout` or `network`. */
export function netFault(errorText: string, url: string): Fault {
  const host = URL.parse(url)?.host ?? url.slice(0, 200);
  const code = errorText.replace(/^net::/, '');
  if (timeouts.includes(code)) return new Fault('page_timeout', `${host}: the connection timed out`);
  const reason = /^ERR_(?:CERT|SSL)/.test(code) ? `TLS: ${code}` : (reasons[code] ?? code);
  return new Fault('network', `${host}: ${reason}`);
}
