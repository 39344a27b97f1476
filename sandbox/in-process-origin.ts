import type { FetchPage, PageRequest } from '../src/fetch/page.ts';
import type { Origin } from './origin.ts';

/**
 * A fetch function that calls a fake marketplace without a network, and the requests it received.
 */
export interface DirectOrigin {
  fetch: FetchPage;
  requests: PageRequest[];
}

/**
 * Calls a region of a fake marketplace directly, for tests of readers. Responses are dated `at`.
 */
export function direct(origin: Origin, region: string, at = 0): DirectOrigin {
  const requests: PageRequest[] = [];
  const fetch: FetchPage = async (request) => {
    requests.push(request);
    const url = new URL(request.path, request.origin ?? 'http://origin.test');
    const { method = 'GET', headers = {}, body = '' } = request;
    const reply = origin.respond({ method, url, headers, body, region });
    return {
      status: reply.status,
      headers: reply.headers,
      body: Buffer.from(reply.body),
      url: url.href,
      at,
    };
  };
  return { fetch, requests };
}
