import type { ResponseHead } from './head.ts';

/** Handling of a redirect: the browser follows it, or it is returned as the response. */
export type RedirectAction = 'follow' | 'return';

export interface NavigationRules {
  /** Returns true if the page may navigate to a URL, by itself or by a redirect. */
  allows(url: string, isRedirect: boolean): boolean;
  /** Returns how to handle a redirect, or null for any other response. */
  redirect(head: ResponseHead): RedirectAction | null;
}

const redirectStatuses: readonly number[] = [301, 302, 303, 307, 308];

/** Maximum redirects followed, as with plain HTTP. */
const maxRedirects = 3;

/** Maximum pages that the scripts of one page may navigate through, including the first. */
const maxPages = 5;

/**
 * Creates the rules for one page. Navigations must stay on the origin, and their number is limited.
 * Redirects of a document are returned, as with plain HTTP, unless `followsRedirects` is set, for
 * pages that are loaded for their requests.
 */
export function createNavigationRules(origin: string, followsRedirects: boolean): NavigationRules {
  let pages = 0;
  let followed = 0;
  const isOnOrigin = (url: string) => URL.parse(url)?.origin === origin;
  return {
    allows: (url, isRedirect) => {
      if (!isRedirect) pages += 1;
      return isOnOrigin(url) && pages <= maxPages;
    },
    redirect: ({ status, headers: { location }, url }) => {
      if (!redirectStatuses.includes(status) || location === undefined) return null;
      const target = URL.parse(location, url);
      if (
        !followsRedirects ||
        target === null ||
        !isOnOrigin(target.href) ||
        followed >= maxRedirects
      ) {
        return 'return';
      }
      followed += 1;
      return 'follow';
    },
  };
}
