import { getPublicSuffix } from 'tough-cookie';
import type { PageRequest, PageResponse } from '../page.ts';

/** Page that a browser loads for a request, and the part of it to return. */
export interface PagePlan {
  url: string;
  /** Scheme, host, and port that navigations must not leave. */
  origin: string;
  take: 'response' | 'document';
  /** Preferred languages, such as "id-ID,id,en". Undefined for the browser's default. */
  languages: string | undefined;
  /** Initial cookies by name. */
  preferences: Readonly<Record<string, string>>;
  /** Throws if another page of the origin must not be loaded. */
  assertAllowed(url: string): void;
  /** Returns true if a document shows everything that its reader expects of it. */
  isReady(document: PageResponse): boolean;
  /**
   * Time for which a loaded document may become ready, in milliseconds. Undefined for the default.
   */
  readyMs: number | undefined;
  /** Returns true if a request of the page is the one whose response is wanted. */
  expects(url: string, method: string): boolean;
}

/**
 * Returns true if two URLs belong to one site: the same host, or hosts with the same registrable
 * domain.
 */
export function isSameSite(one: string, other: string): boolean {
  const [host, otherHost] = [one, other].map((url) => URL.parse(url)?.hostname);
  if (!host || !otherHost) return false;
  if (host === otherHost) return true;
  const [domain, otherDomain] = [host, otherHost].map((name) =>
    getPublicSuffix(name, { ignoreError: true }),
  );
  return domain !== undefined && domain === otherDomain;
}

/** Removes the weights from an accept-language header, because browsers add their own. */
function languagesOf(header: string | undefined): string | undefined {
  return header?.replace(/\s*;\s*q=[\d.]+/g, '').replace(/\s+/g, '');
}

/**
 * Plans the page for a request: the page that it names and the response that its scripts request,
 * or the document at its path. The page determines the method, body, and headers of its requests.
 */
export function planPage(request: PageRequest, origin: string): PagePlan {
  const { path, take, same = [] } = request.page ?? { path: request.path, take: 'document' };
  const target = new URL(origin + request.path);
  return {
    url: new URL(origin + path).href,
    origin,
    take,
    languages: languagesOf(request.headers?.['accept-language']),
    preferences: request.preferences ?? {},
    assertAllowed: (url) => {
      const { pathname, search } = new URL(url);
      request.assertAllowed?.(pathname + search);
    },
    isReady: request.isReady ?? (() => true),
    readyMs: request.readyMs,
    expects: (text, method) => {
      const url = URL.parse(text);
      if (take !== 'response' || method === 'OPTIONS' || url?.pathname !== target.pathname)
        return false;
      const isEqual = (name: string) =>
        url.searchParams.get(name) === target.searchParams.get(name);
      return isSameSite(text, origin) && same.every(isEqual);
    },
  };
}
