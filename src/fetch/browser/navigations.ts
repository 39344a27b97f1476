import type { Head } from './head.ts';

/** What becomes of a redirect: the browser goes on, or the redirect is the answer. */
export type Redirect = 'follow' | 'answer';

/** Says where a page may lead. */
export interface Navigations {
  /** Whether the page may go to an address, by itself or by a redirect. */
  allows(url: string, redirected: boolean): boolean;
  /** What becomes of an answer that points to another address; null for any other answer. */
  redirect(head: Head): Redirect | null;
}

const redirects: readonly number[] = [301, 302, 303, 307, 308];

/** As plain HTTP. */
const mostRedirects = 3;

/** Addresses that the scripts of one page may lead to in turn, the first included. */
const mostPages = 5;

/**
 * Makes the rules of one visit: the origin is not left, and there is an end. A document's redirect is the
 * answer, as with plain HTTP; a page that is opened for what it asks for may move on its origin.
 */
export function createNavigations(origin: string, follows: boolean): Navigations {
  let pages = 0;
  let followed = 0;
  const stays = (url: string) => URL.parse(url)?.origin === origin;
  return {
    allows: (url, redirected) => {
      if (!redirected) pages += 1;
      return stays(url) && pages <= mostPages;
    },
    redirect: ({ status, headers: { location }, url }) => {
      if (!redirects.includes(status) || location === undefined) return null;
      const target = URL.parse(location, url);
      if (!follows || target === null || !stays(target.href) || followed >= mostRedirects) return 'answer';
      followed += 1;
      return 'follow';
    },
  };
}
