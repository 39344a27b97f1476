import { Fault } from '../../contract/fault.ts';
import { brief, decodedPath, text } from '../fields.ts';
import { attribute, find, findAll, words } from '../html/html.ts';
import { isNotFoundTitle } from '../responses/not-found-page.ts';
import { isHomePath, movedFault, refreshAddress, searchTerms } from '../responses/redirects.ts';
import { isWall, unexpectedPage, visibleText } from '../responses/unexpected-page.ts';
import { hasProduct } from '../structured-data/listed-products.ts';
import { addressOn } from '../structured-data/offer.ts';
import { plainName, plainWords, separateWords, sharesWord } from '../structured-data/plain-name.ts';
import type { SourcedValues } from './site-fields.ts';
import type { OpenSitePage, SitePage } from './site-page.ts';

/**
 * Codes of faults that pages of products can have as well: shops have forms to log in on all pages.
 */
const productCodes: ReadonlySet<string> = new Set(['page_unreadable', 'page_login']);

/** Returns the fault of a page that states no product. */
function productFault(page: OpenSitePage): Fault {
  const fault = unexpectedPage(page.text, 'a product');
  if (fault.code !== 'page_unreadable' || isWall(page.html)) return fault;
  if (page.isUndecoded)
    return new Fault('page_unreadable', 'the page is not in the encoding that it declares');
  if (!page.data.some(hasProduct)) return fault;
  return new Fault(
    'page_unreadable',
    'the page states products, but none with its address or its name',
  );
}

/** Maximum characters of a page that are searched for the name of its product. */
const maxBody = 300_000;

const ownLinks = 'link[rel~="shortlink" i], link[rel~="canonical" i], link[rel~="alternate" i]';

/**
 * Returns the fault of a page at another address than the requested one, or that forwards to one.
 */
export function siteMovedFault(page: OpenSitePage, requestedUrl: string): Fault | null {
  const requested = URL.parse(requestedUrl);
  const forwarded = addressOn(page.url, refreshAddress(page.html), page.base);
  const fault = requested && movedFault(requested, new URL(forwarded ?? page.url));
  if (fault?.code !== 'page_mismatch') return fault;
  // An address by number can lead to one of words, whose page still names the number's address.
  const links = findAll(page.html.root, ownLinks).map((link) =>
    addressOn(page.url, attribute(link, 'href'), page.base),
  );
  return links.includes(requested!.href.split('#')[0]!) ? null : fault;
}

const ownAddresses = 'link[rel~="canonical" i], meta[property="og:url" i]';

/** Returns the words of the last part of a path, such as "red", "mug", and "10001". */
function lastWords({ pathname }: URL): Set<string> {
  const last = decodedPath(pathname.replace(/\/+$/, '').split('/').at(-1)!);
  return new Set(separateWords(plainName(last.replace(/\.\w{3,5}$/, ''))));
}

/** Returns the folder of a page: its address without the last part of the path. */
const folderOf = ({ host, pathname }: URL): string =>
  host + pathname.replace(/\/+$/, '').replace(/[^/]*$/, '');

/** Returns true if addresses have a number in common: "12-red-mug" became "12-crimson-mug". */
const sharesNumber = (one: ReadonlySet<string>, other: ReadonlySet<string>): boolean =>
  [...one].some((word) => /^\d+$/.test(word) && other.has(word));

/**
 * Returns the fault of a page that is another product's: its own address is that of another page in
 * the folder of the requested one, without its number, and its title or codes have words of that
 * address only.
 */
function otherProductFault(
  page: OpenSitePage,
  values: SourcedValues['values'],
  requestedUrl: string,
): Fault | null {
  const requested = URL.parse(requestedUrl);
  if (requested === null) return null;
  const requestedWords = lastWords(requested);
  const codes = [values.title, values.sku, values.mpn, values.gtin].map(text).join(' ');
  const pageWords = new Set(separateWords(plainName(codes)));
  for (const link of findAll(page.html.root, ownAddresses)) {
    const address = attribute(link, 'href') ?? attribute(link, 'content');
    const own = URL.parse(addressOn(page.url, address, page.base) ?? '');
    if (own === null || folderOf(own) !== folderOf(requested)) continue;
    const ownWords = lastWords(own);
    if (sharesNumber(ownWords, requestedWords)) continue;
    const ownOnly = [...ownWords].filter((word) => !requestedWords.has(word));
    const requestedOnly = [...requestedWords].filter((word) => !ownWords.has(word));
    if (requestedOnly.length === 0 || requestedOnly.some((word) => pageWords.has(word))) continue;
    if (ownOnly.some((word) => pageWords.has(word)))
      return new Fault('page_mismatch', `the page is that of ${brief(own.href)}, another product`);
  }
  return null;
}

/** Returns the fault of a page by its address, or by the one that it states. */
const otherAddressFault = (
  page: OpenSitePage,
  values: SourcedValues['values'] | undefined,
  url: string,
): Fault | null =>
  siteMovedFault(page, url) ?? (values ? otherProductFault(page, values, url) : null);

/** Returns the plain titles and main headings of a page. */
function plainTitles({ html }: OpenSitePage): string[] {
  const titles = findAll(html.root, 'title, h1, h2').map((element) => plainName(words(element)));
  return titles.filter((title) => title.trim() !== '');
}

/** Returns true if a title, a heading, or a text of the page has the name of the product. */
function isNameVisible({ html }: OpenSitePage, name: string, titles: readonly string[]): boolean {
  if (titles.some((title) => title.includes(name) || name.includes(title))) return true;
  return plainWords(visibleText(html.root).slice(0, maxBody)).includes(name);
}

/** Maximum texts of a page that are compared with sentences. */
const maxTexts = 500;

/** Returns the fault of a page that says that its product is gone, and names another one. */
function goneFault({ html }: OpenSitePage): Fault | null {
  const texts = findAll(html.root, 'h1, h2, h3, h4, p, strong, span').slice(0, maxTexts);
  const sentence = texts
    .map((element) => words(element))
    .find((line) => isNotFoundTitle(line ?? ''));
  if (sentence === undefined) return null;
  return new Fault('page_not_found', `the site shows another product: "${sentence}"`);
}

/**
 * Returns the fault of a page that is not the one of the requested product: by its content if that
 * says so, otherwise by its address. Null for the requested page with a product.
 */
export function otherPageFault(
  page: OpenSitePage,
  read: (Pick<SourcedValues, 'values'> & { isStated: boolean }) | null,
  url: string,
): Fault | null {
  const moved = otherAddressFault(page, read?.values, url);
  const name = plainName(text(read?.values.title));
  const titles = plainTitles(page);
  const gone = read !== null && !sharesWord(name, titles) ? goneFault(page) : null;
  if (gone !== null) return gone;
  const isVisible = read !== null && isNameVisible(page, name, titles);
  if (read?.isStated && isVisible && moved === null) return null;
  const fault = productFault(page);
  // Only the beginning of a long page is examined, which may have no text.
  const isShown = isVisible && fault.code === 'page_empty';
  const isExpected = isShown || (productCodes.has(fault.code) && (isVisible || !isWall(page.html)));
  if (isExpected && read !== null) return moved;
  return isExpected || fault.code === 'page_empty' ? (moved ?? fault) : fault;
}

/** Minimum characters of the words of a search that are compared with a heading. */
const minTerm = 3;

/** Returns true for the heading of a search, which repeats the words in its address. */
function isSearchHeading(heading: string, address: URL): boolean {
  const name = plainName(heading);
  const terms = searchTerms(address).filter((term) => term.trim().length >= minTerm);
  return terms.some((term) => name.includes(plainName(term)));
}

/** Returns true for the first page of several, which links to the next one under its own path. */
function isPaged({ html, url, base }: SitePage, { pathname }: URL): boolean {
  const next = attribute(find(html.root, 'link[rel~="next" i]'), 'href');
  return URL.parse(addressOn(url, next, base) ?? '')?.pathname === pathname;
}

/**
 * Returns true for a page that shows several products: the first page of a shop, a search, one with
 * further pages, or one whose structured data has products. Call it only for pages that state none
 * of their own: such a page can show one of several like its own.
 */
export function isOverviewPage(page: SitePage, title: string): boolean {
  const address = new URL(page.url);
  if (isHomePath(address) || isSearchHeading(title, address)) return true;
  return isPaged(page, address) || page.data.some(hasProduct);
}
