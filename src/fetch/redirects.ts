import type { FetchPage, PageRequest, PageResponse } from './page.ts';

/** Default maximum of redirects followed for one page. */
const maxRedirects = 3;

const statuses: readonly number[] = [301, 302, 303, 307, 308];

/** Headers that must not be sent to another origin. */
const sameOriginHeaders: readonly string[] = ['cookie', 'authorization', 'origin', 'referer'];

/**
 * Returns the request that follows a redirect, or null if the response is not a redirect to follow.
 */
function nextRequest(request: PageRequest, response: PageResponse): PageRequest | null {
  const { location } = response.headers;
  if (!request.redirects || !statuses.includes(response.status) || location === undefined)
    return null;
  const here = new URL(response.url);
  const target = URL.parse(location, response.url);
  if (!target) return null;
  const { redirects } = request;
  const isNamed = request.origin !== undefined;
  const isAccepted = typeof redirects === 'function' ? redirects(target) : redirects === 'anywhere';
  const mayLeave = redirects === 'robots_file' || (isNamed && isAccepted);
  const isCrossOrigin = target.origin !== here.origin;
  if ((isCrossOrigin && !mayLeave) || target.username !== '' || target.password !== '') return null;
  const next: PageRequest = { ...request, path: target.pathname + target.search };
  if (isNamed || isCrossOrigin) next.origin = `${target.protocol}//${target.host}`;
  if (isCrossOrigin && request.headers) {
    next.headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !sameOriginHeaders.includes(name)),
    );
  }
  if (response.status <= 303) {
    delete next.body;
    delete next.method;
  }
  return next;
}

/**
 * Wraps a fetch function so that it follows redirects as `request.redirects` says. Each hop is a
 * separate request, subject to the same address checks, rate limits, and robots.txt rules.
 */
export function followRedirects(fetch: FetchPage, max: number = maxRedirects): FetchPage {
  const follow: FetchPage = async (first) => {
    let request = first;
    for (let followed = 0; ; followed += 1) {
      const response = await fetch(request);
      const next = followed < max ? nextRequest(request, response) : null;
      if (!next) return response;
      request = next;
    }
  };
  return (request) => (request.redirects ? follow(request) : fetch(request));
}
