import type { FetchPage, PageRequest } from '../src/fetch/page.ts';
import type { Origin } from './origin.ts';

/** A fake marketplace asked without a network, and what it was asked. */
export interface DirectOrigin {
  fetch: FetchPage;
  requests: PageRequest[];
}

/** Asks a fake marketplace's region directly: for tests of readers. The time is always `at`. */
export function direct(origin: Origin, region: string, at = 0): DirectOrigin {
  const requests: PageRequest[] = [];
  const fetch: FetchPage = async (request) => {
    requests.push(request);
    const url = new URL(request.path, request.origin ?? 'http://origin.test');
    const { method = 'GET', headers = {}, body = '' } = request;
    const reply = origin.answer({ method, url, headers, body, region });
    return { status: reply.status, headers: reply.headers, body: Buffer.from(reply.body), url: url.href, at };
  };
  return { fetch, requests };
}
