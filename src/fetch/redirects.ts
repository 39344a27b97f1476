import type { FetchPage, PageAnswer, PageRequest } from './page.ts';

/** Redirects that are followed for one page. */
const mostRedirects = 3;

const statuses: readonly number[] = [301, 302, 303, 307, 308];

/** Headers that are for one origin only. */
const own: readonly string[] = ['cookie', 'authorization', 'origin', 'referer'];

/** The request that a redirect leads to, or null where the redirect itself is the answer. */
function redirected(request: PageRequest, answer: PageAnswer): PageRequest | null {
  const { location } = answer.headers;
  if (!request.redirects || !statuses.includes(answer.status) || location === undefined) return null;
  const here = new URL(answer.url);
  const target = URL.parse(location, answer.url);
  if (!target) return null;
  const anywhere = request.redirects === 'anywhere' && request.origin !== undefined;
  const away = target.origin !== here.origin;
  if ((away && !anywhere) || target.username !== '' || target.password !== '') return null;
  const next: PageRequest = { ...request, path: target.pathname + target.search };
  if (request.origin !== undefined) next.origin = `${target.protocol}//${target.host}`;
  if (away && request.headers) {
    next.headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => !own.includes(name)),
    );
  }
  if (answer.status <= 303) {
    delete next.body;
    delete next.method;
  }
  return next;
}

/**
 * A fetch that follows redirects as a request asks, each as a request of its own, so that all that
 * holds for requests holds for them: addresses, turns, robots.txt.
 */
export function followingRedirects(fetch: FetchPage, most: number = mostRedirects): FetchPage {
  return async (first) => {
    let request = first;
    for (let followed = 0; ; followed += 1) {
      const answer = await fetch(request);
      const next = followed < most ? redirected(request, answer) : null;
      if (!next) return answer;
      request = next;
    }
  };
}
