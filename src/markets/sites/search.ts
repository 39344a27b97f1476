import type { JsonObject } from '../../base/json.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { noValues } from '../declared-sites/page-values.ts';
import { hasHost, type SiteDeclaration } from '../declared-sites/site-declaration.ts';
import { siteMovedFault } from '../declared-sites/site-fault.ts';
import { readFields, recordOf } from '../declared-sites/site-fields.ts';
import { openPage, type SitePage, siteOf } from '../declared-sites/site-page.ts';
import { text } from '../fields.ts';
import { attribute, find, findAll } from '../html/html.ts';
import type { ListReader } from '../market.ts';
import { newEntries, withTitleOrPrice } from '../new-entries.ts';
import { checkFound, isNotFound } from '../responses/not-found-page.ts';
import { isNoResults, isWall, unexpectedPage } from '../responses/unexpected-page.ts';
import { isProductPage, listedProducts } from '../structured-data/listed-products.ts';
import { addressOn } from '../structured-data/offer.ts';
import { trailOf } from '../structured-data/product.ts';
import { pageRequest, placeOf } from './product.ts';

/** Pages of a listing that are read, unless the declaration says otherwise. */
const defaultMaxPages = 100;
const defaultNext = 'link[rel~="next" i], a[rel~="next" i]';
/** Links that are named as the next page. Those of slides lead to no other page of the listing. */
const namedNext =
  'a[aria-label^="next" i], a[title^="next" i], a[class~="next" i], [class~="next" i] > a';

/**
 * Returns the entries of a page: its structured list, or the elements that the declaration names,
 * without those that link to no page of the site.
 */
function entriesOf(page: SitePage): JsonObject[] {
  const { site, url, base, html } = page;
  const { items, fields = {} } = site.listing;
  const entry = (values: Parameters<typeof recordOf>[0]['values']) => {
    const link = URL.parse(text(values.url) ?? '');
    if (link === null || !hasHost(site, link)) return [];
    const { url: _, ...recordValues } = values;
    return [recordOf({ values: recordValues }, link.href, site)];
  };
  if (items === undefined) {
    if (page.data.some((data) => isProductPage(data, url))) return [];
    const { steps } = trailOf(page.data, url);
    const lists = page.data.map((data) => listedProducts(data, url, steps));
    return (lists.find((list) => list.length > 0) ?? []).flatMap(entry);
  }
  return findAll(html.root, items).flatMap((element) => {
    const { values } = readFields(page, element, fields, noValues);
    const link = element.name === 'a' ? element : find(element, 'a[href]');
    const address = addressOn(url, text(values.url) ?? attribute(link, 'href'), base);
    return entry({ ...values, url: address });
  });
}

const remedy = ': declare their selectors in the fields of the listing';

/** A page of a listing and its entries. */
interface ListingPage {
  page: SitePage;
  entries: JsonObject[];
}

/**
 * Returns the entries of a page at `url`, the first of a listing. A page that says that it has no
 * results is a list without entries, whatever it suggests. Throws the fault of a page without
 * entries and of one at another address.
 */
function readFirstPage(response: PageResponse, site: SiteDeclaration, url: string): ListingPage {
  const page = openPage(response, site);
  checkFound(page.text);
  const moved = siteMovedFault(page, url);
  if (moved !== null) throw moved;
  if (isNoResults(page.html)) return { page, entries: [] };
  const entries = withTitleOrPrice(entriesOf(page), remedy);
  if (entries.length === 0) throw unexpectedPage(page.text, 'a list of products');
  return { page, entries };
}

/** Returns true if the pages of a site's listings have numbers, also beyond the last one. */
const isNumbered = ({ listing }: SiteDeclaration): boolean => listing.page_parameter !== undefined;

/** Codes of faults of a page that the site shows beyond the end of a listing. */
const endCodes: ReadonlySet<string> = new Set([
  'page_unreadable',
  'page_mismatch',
  'page_not_found',
]);

/**
 * Returns the entries of a later page. A page without entries ends the listing, and so does a "not
 * found" page or one at another address if pages have numbers. Throws the fault of a page that the
 * site shows instead of any other, such as a robot check, or instead of one to which it links.
 */
function readLaterPage(response: PageResponse, site: SiteDeclaration, url: string): ListingPage {
  const page = openPage(response, site);
  if (!isNumbered(site)) checkFound(page.text);
  const moved = siteMovedFault(page, url);
  if (moved !== null && !(isNumbered(site) && endCodes.has(moved.code))) throw moved;
  const isOther = moved !== null || isNotFound(page.text);
  const entries = isOther ? [] : withTitleOrPrice(entriesOf(page), remedy);
  if (entries.length > 0) return { page, entries };
  const fault = unexpectedPage(page.text, 'a list of products');
  // Shops have forms to log in on all pages.
  const isEnd = endCodes.has(fault.code) || fault.code === 'page_login';
  if (isEnd && !isWall(page.html)) return { page, entries };
  throw fault;
}

/** Returns the address of the first of the links that `isNext` accepts. */
function firstLink(
  { html, url, base, site }: SitePage,
  selector: string,
  isNext: (address: URL) => boolean,
): URL | null {
  for (const element of findAll(html.root, selector)) {
    const link = URL.parse(addressOn(url, attribute(element, 'href'), base) ?? '');
    if (link !== null && hasHost(site, link) && isNext(link)) return link;
  }
  return null;
}

/** Returns true for another page of a listing: of its path, with another query or more of it. */
function isSameListing(link: URL, listing: URL): boolean {
  const path = listing.pathname.replace(/\/(?:page\/)?\d*$/, '');
  const isBelow = link.pathname === path || link.pathname.startsWith(`${path}/`);
  return isBelow && link.pathname + link.search !== listing.pathname + listing.search;
}

/**
 * Returns the address of the next page, or null after the last. `pageCount`: number of pages so
 * far.
 */
function nextPage(page: SitePage, pageCount: number): URL | null {
  const { next, page_parameter: parameter, first_page: first = 1 } = page.site.listing;
  const address = new URL(page.url);
  if (parameter !== undefined) {
    address.searchParams.set(parameter, String(first + pageCount));
    return address;
  }
  const linked = firstLink(page, next ?? defaultNext, () => true);
  if (linked !== null || next !== undefined) return linked;
  return firstLink(page, namedNext, (link) => isSameListing(link, address));
}

/**
 * Reads a listing of a declared site into `products`, page by page. `input` has the `url`; the
 * region is the name of the site. Ends without a next page, at a page without new entries, or at
 * the declared maximum. The summary has `site`, `total_products`, `pages_fetched`, and `has_more`,
 * also if the last page links to a further one.
 */
export const search: ListReader = {
  sort: 'list',
  async *read(input, { region, fetch }) {
    const { site, url: start } = placeOf(region, input.url);
    const seen = new Set<string>();
    const maxPages = site.listing.max_pages ?? defaultMaxPages;
    let url: URL | null = start;
    let pages = 0;
    let isEnd = false;
    while (url !== null && !isEnd && pages < maxPages) {
      const response = await fetch(pageRequest(url, site));
      // Shops respond with it to numbers beyond the last page.
      if (pages > 0 && isNumbered(site) && [404, 410].includes(response.status)) {
        url = null;
        break;
      }
      const read = pages === 0 ? readFirstPage : readLaterPage;
      const { page, entries } = read(response, site, url.href);
      pages += 1;
      const added = newEntries(entries, seen, ({ id }) => text(id));
      isEnd = added.length === 0;
      url = isEnd && isNumbered(site) ? null : nextPage(page, pages);
      if (!isEnd) yield { list: 'products', entries: added };
    }
    return {
      site: site.name,
      total_products: seen.size,
      pages_fetched: pages,
      has_more: url !== null,
    };
  },
  extract: (response, input, region) =>
    readFirstPage(response, siteOf(region), text(input.url) ?? response.url).entries,
};
