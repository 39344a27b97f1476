import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { brief, decodedPath } from '../fields.ts';
import { type Element, findAll, type HtmlPage } from '../html/html.ts';
import { anyOf } from '../patterns.ts';
import { isOtherCountry, isOtherLocale } from './country-host.ts';

/** Patterns of redirect targets: pages that a site shows instead of the requested one. */
const loginAddress = /(?:^|[./_-])(?:log-?in|sign-?in|accounts?\/auth|sso)(?=$|[./?])/i;
const checkAddress = /captcha|\/verify(?:$|[/?])|\/challenge|unusual|\/blocked|\/sorry\//i;
const chooserAddress = anyOf(
  [
    '(?:choose|select|change)[-_/]?(?:your[-_]?)?(?:country|region|location|language|locale|store)',
    '(?:country|region|language|locale)[-_/]?(?:select\\w*|chooser|picker|switch\\w*)',
    'global-gateway',
  ],
  { flags: 'i' },
);
const missingAddress = anyOf(['404', '(?:page[-_]?)?not[-_]?found'], {
  flags: 'i',
  before: '\\/(?:(?:errors?|pages?|e)[-_/]?)?',
  after: '(?:[-_/]?(?:errors?|pages?))?(?:\\.\\w{2,5})?\\/?$',
});

/**
 * Returns true if a redirect target belongs to another region of the market than the requested one.
 */
export type RegionCheck = (target: URL) => boolean;

/**
 * Returns the fault of a page to which a site leads instead of the requested one, by its address:
 * `page_login` for a login, `page_blocked` for a robot check, `page_not_found` for a "not found"
 * page, `page_region` for a choice of countries, another country's host, or a target that
 * `isOtherRegion` accepts. Null for any other address. `points` starts the message.
 */
function addressFault(
  points: string,
  requested: URL | null,
  target: URL,
  isOtherRegion: RegionCheck = () => false,
): Fault | null {
  const { host, hostname, pathname } = target;
  const hostAndPath = `${host}${pathname}`;
  if (checkAddress.test(hostAndPath)) return new Fault('page_blocked', `${points}: a robot check`);
  if (loginAddress.test(hostAndPath)) return new Fault('page_login', `${points}: a login`);
  if (chooserAddress.test(hostAndPath) || isOtherRegion(target)) return otherRegionFault(points);
  if (isOtherCountry(requested?.hostname ?? '', hostname)) return otherRegionFault(points);
  if (missingAddress.test(pathname))
    return new Fault('page_not_found', `${points}: a "not found" page`);
  return null;
}

const otherRegionFault = (points: string) =>
  new Fault('page_region', `${points}: another region than the requested one`);

/**
 * Returns the fault for a redirect that is not followed: that of addressFault(), otherwise
 * `page_failed`.
 */
export function redirectFault(response: PageResponse, isOtherRegion?: RegionCheck): Fault {
  const { status, url, headers } = response;
  const location = headers.location?.trim() ?? '';
  const target = location === '' ? null : URL.parse(location, url);
  const address = location === '' ? 'no page' : brief(location);
  const points = `the site returned ${status} and points to ${address}`;
  const fault = target && addressFault(points, URL.parse(url), target, isOtherRegion);
  return fault ?? new Fault('page_failed', points);
}

/** Delay and address of a refresh: "0; url=/de/". */
const refresh = /^\s*(\d{1,4})[\d.]*\s*[;,]\s*(?:url\s*=\s*)?["']?([^"']+)/i;

/** Maximum delay of a page that only forwards its visitors, in seconds. */
const maxRefreshSeconds = 5;

/**
 * Returns the address to which a page forwards its visitors at once, or null if it does not. An
 * address for visitors without scripts does not count.
 */
export function refreshAddress({ root }: HtmlPage): string | null {
  for (const meta of findAll(root, 'meta[http-equiv="refresh" i][content]')) {
    if (isInNoscript(meta)) continue;
    const content = meta.attribs.content!.slice(0, 2_000);
    const [, seconds, address] = refresh.exec(content) ?? [];
    if (address !== undefined && Number(seconds) <= maxRefreshSeconds) return address.trim();
  }
  return null;
}

function isInNoscript({ parent }: Element): boolean {
  for (let outer = parent; outer !== null && 'attribs' in outer; outer = outer.parent)
    if (outer.name === 'noscript') return true;
  return false;
}

/** Base of addresses of a page whose own address is unknown. */
const unknownSite = 'http://site.invalid/';

/**
 * Returns the fault of a page without the expected content that forwards its visitors: that of
 * addressFault(), otherwise `page_failed`. Null for a page that does not.
 */
export function refreshFault(page: HtmlPage): Fault | null {
  const address = refreshAddress(page);
  if (address === null) return null;
  const target = URL.parse(address, unknownSite);
  if (target === null) return null;
  const points = `the site sent a page that forwards to ${brief(address)}`;
  return addressFault(points, null, target) ?? new Fault('page_failed', points);
}

/** Path of the first page of a site, also in a language: "/", "/de/", "/index.html". */
const homePath =
  /^(?:\/[a-z]{2}(?:[-_][a-z]{2})?)?\/?(?:(?:index|home|homepage)(?:\.\w{2,5})?\/?)?$/i;

/** Returns true for the address of the first page of a site. Parameters can name another page. */
export const isHomePath = ({ pathname, search }: URL): boolean =>
  search === '' && homePath.test(pathname);

/** Query parameters that are the words of a search, and segments of the paths of searches. */
const searchParameters = anyOf(
  [
    'q',
    'k',
    's',
    'st',
    'text',
    'terms?',
    'query',
    'keywords?',
    'search\\w*',
    '\\w*search',
    'suche?',
    'recherche',
  ],
  { flags: 'i', before: '^', after: '$' },
);
const searchSegments = /^(?:\w*search\w*|suche?|recherche|buscar?|ricerca|zoeken)$/i;
/** Query parameters that name an item or its variant. */
const idParameters = anyOf(
  ['p?id', 'sku', 'item', 'product', 'article', 'artikel', 'art', 'code', 'variant'],
  { flags: 'i', before: '^(?:\\w*[_-])?', after: '$' },
);
/** Minimum digits of a number in a path that is an id. */
const idDigits = /\d{4,}/g;

/** What an address names. */
interface AddressNames {
  /** Path without differences in case, without its extension and language. */
  path: string;
  /** Parts of the path. */
  segments: readonly string[];
  /** Values of parameters that name an item, by parameter. */
  parameters: ReadonlyMap<string, string>;
  /** Words of a search, by parameter. */
  terms: ReadonlyMap<string, string>;
  /** Ids: the values of these parameters, and long numbers of the path. */
  ids: ReadonlySet<string>;
  isSearch: boolean;
}

function namesOf({ pathname, searchParams }: URL): AddressNames {
  const path = decodedPath(pathname)
    .toLowerCase()
    .replace(/\.(?:html?|php|aspx?|jsp)$/, '')
    .replace(/\/+$/, '')
    .replace(/^\/[a-z]{2}(?:[-_][a-z]{2})?(?=\/)/, '');
  const segments = path.split('/').filter((segment) => segment !== '');
  const parameters = new Map<string, string>();
  const terms = new Map<string, string>();
  for (const [name, value] of searchParams) {
    if (value === '') continue;
    if (idParameters.test(name)) parameters.set(name, value);
    if (searchParameters.test(name)) terms.set(name, value);
  }
  const ids = new Set([...parameters.values(), ...(path.match(idDigits) ?? [])]);
  const isSearchPath = segments.some((segment) => searchSegments.test(segment));
  return {
    path,
    segments,
    parameters,
    terms,
    ids,
    isSearch: terms.size > 0 || isSearchPath,
  };
}

/** Returns the words of a search in the parameters of an address. */
export const searchTerms = (address: URL): string[] => [...namesOf(address).terms.values()];

/** Returns true if a text has an id between other characters than letters and digits. */
const hasId = (text: string, id: string): boolean =>
  text.split(/[^\p{L}\p{N}]+/u).includes(id.toLowerCase());

/** Maximum characters of the part of a path after the name of a page: "/oat-mug/p". */
const maxMark = 2;

/** Returns true if a path ends with a name. */
function isEnd(name: string | undefined, segments: readonly string[]): boolean {
  if (name === undefined) return false;
  const last = segments.at(-1);
  if (last === name) return true;
  return segments.at(-2) === name && last!.length <= maxMark;
}

/**
 * Returns true if an address names the same page as the requested one: the same path without
 * differences of spelling, a path with the same last part, or one with its id. Its parameters name
 * the same item, variant, and words of a search. A search, another id, and other words can be
 * another page.
 */
export function isSamePage(requestedUrl: URL, targetUrl: URL): boolean {
  const requested = namesOf(requestedUrl);
  const target = namesOf(targetUrl);
  if (target.isSearch && !requested.isSearch) return false;
  if (hasOtherTerm(requested, target)) return false;
  if (requested.path === target.path) return hasParameters(target, requested);
  const targetWords = [target.path, ...target.parameters.values()].join(' ');
  if ([...requested.ids].some((id) => hasId(targetWords, id))) return true;
  if (requested.ids.size > 0 && target.ids.size > 0) return false;
  return requested.parameters.size === 0 && isEnd(requested.segments.at(-1), target.segments);
}

/** Returns true if an address has other words of a search than the requested one. */
function hasOtherTerm(requested: AddressNames, target: AddressNames): boolean {
  for (const [name, value] of requested.terms) {
    const targetValue = target.terms.get(name);
    if (targetValue !== undefined && targetValue !== value) return true;
  }
  return false;
}

/** Returns true if an address has the parameters of the requested one that name an item. */
function hasParameters(target: AddressNames, requested: AddressNames): boolean {
  for (const [name, value] of requested.parameters)
    if (target.parameters.get(name) !== value) return false;
  return true;
}

/**
 * Returns the fault of a page to which a site led instead of the requested one, or null if its
 * address names the same page: that of addressFault(), `page_region` for another language or
 * country in the path, `page_not_found` for the first page of the site, and otherwise
 * `page_mismatch`.
 */
export function movedFault(requested: URL, target: URL): Fault | null {
  const points = `the site led to ${brief(target.href)}`;
  const isElsewhere =
    isOtherCountry(requested.hostname, target.hostname) ||
    isOtherLocale(requested.pathname, target.pathname);
  if (isElsewhere) return otherRegionFault(points);
  if (isSamePage(requested, target)) return null;
  const fault = addressFault(points, requested, target);
  if (fault !== null) return fault;
  // Shops redirect from removed products to their first page.
  if (homePath.test(target.pathname) && !homePath.test(requested.pathname))
    return new Fault('page_not_found', 'the site redirected to its first page');
  return new Fault('page_mismatch', `${points}, which can be another page than the requested one`);
}
