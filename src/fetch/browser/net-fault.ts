import { Fault } from '../../contract/fault.ts';

const timeouts: readonly string[] = ['ERR_TIMED_OUT', 'ERR_CONNECTION_TIMED_OUT'];

const reasons: Readonly<Record<string, string>> = {
  ERR_ABORTED: 'the request was given up',
  ERR_CONNECTION_CLOSED: 'the connection ended before the answer was complete',
  ERR_CONNECTION_REFUSED: 'the connection was refused',
  ERR_CONNECTION_RESET: 'the connection was reset',
  ERR_CONTENT_LENGTH_MISMATCH: 'the connection ended before the answer was complete',
  ERR_EMPTY_RESPONSE: 'the connection ended before the answer was complete',
  ERR_INCOMPLETE_CHUNKED_ENCODING: 'the connection ended before the answer was complete',
  ERR_NAME_NOT_RESOLVED: 'the host name does not exist',
};

/** Renames what the browser says of a request that failed ("net::ERR_EMPTY_RESPONSE") into our few:
 *  `page_timeout`, else `network`. */
export function netFault(errorText: string, url: string): Fault {
  const place = URL.parse(url)?.host ?? url.slice(0, 200);
  const code = errorText.replace(/^net::/, '');
  if (timeouts.includes(code))
    return new Fault('page_timeout', `${place}: no connection could be made in time`);
  const reason = /^ERR_(?:CERT|SSL)/.test(code) ? `TLS: ${code}` : (reasons[code] ?? code);
  return new Fault('network', `${place}: ${reason}`);
}
