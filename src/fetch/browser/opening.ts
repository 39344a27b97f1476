import { getPublicSuffix } from 'tough-cookie';
import type { PageRequest } from '../page.ts';

/** What a browser is to open, and what it is to take from it. */
export interface Opening {
  url: string;
  /** Scheme, host and port that is not left. */
  origin: string;
  take: 'response' | 'document';
  /** Languages for the page, the preferred first: "id-ID,id,en"; undefined: the browser's own. */
  languages: string | undefined;
  /** Cookies that a new visitor comes with, by name. */
  preferences: Readonly<Record<string, string>>;
  /** Throws the fault where a further page of the origin must not be opened. */
  permits(url: string): void;
  /** Whether the page's request for an address is the one whose answer is to be taken. */
  wants(url: string, method: string): boolean;
}

/** Whether two addresses belong to one site: one host, or hosts under one registered name. */
export function isSameSite(one: string, other: string): boolean {
  const [here, there] = [one, other].map((url) => URL.parse(url)?.hostname);
  if (!here || !there) return false;
  if (here === there) return true;
  const [name, otherName] = [here, there].map((host) => getPublicSuffix(host, { ignoreError: true }));
  return name !== undefined && name === otherName;
}

/** Languages of an accept-language header without their weights, which browsers set themselves. */
function languagesOf(header: string | undefined): string | undefined {
  return header?.replace(/\s*;\s*q=[\d.]+/g, '').replace(/\s+/g, '');
}

/**
 * What a request means to a browser: the page that it names and the response that the page's scripts ask
 * for, else the document at its path. Method, body and headers are the page's own business.
 */
export function openingOf(request: PageRequest, origin: string): Opening {
  const { path, take, same = [] } = request.page ?? { path: request.path, take: 'document' };
  const target = new URL(origin + request.path);
  return {
    url: new URL(origin + path).href,
    origin,
    take,
    languages: languagesOf(request.headers?.['accept-language']),
    preferences: request.preferences ?? {},
    permits: (url) => {
      const { pathname, search } = new URL(url);
      request.permits?.(pathname + search);
    },
    wants: (url, method) => {
      const asked = URL.parse(url);
      if (take !== 'response' || method === 'OPTIONS' || asked?.pathname !== target.pathname) return false;
      const equal = (name: string) => asked.searchParams.get(name) === target.searchParams.get(name);
      return isSameSite(url, origin) && same.every(equal);
    },
  };
}
