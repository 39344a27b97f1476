import type { JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageRequest, PageResponse } from '../../fetch/page.ts';
import { declaredSites } from '../declared-sites.ts';
import { text } from '../fields.ts';
import { bodyText, parseHtml } from '../html.ts';
import type { RecordReader } from '../market.ts';
import { statusFault } from '../response.ts';
import { hasHost, type SiteDeclaration } from '../site-declaration.ts';
import { openSitePage, readProductPage, recordOf, type SitePage } from '../site-page.ts';
import { unexpectedPage } from '../unexpected-page.ts';

/** Returns the site of a unit. Throws `origin_missing` if its declaration was removed. */
export function siteOf(name: string, url?: URL): SiteDeclaration {
  const site = declaredSites.find(name, url);
  if (site !== undefined) return site;
  throw new Fault(
    'origin_missing',
    `the site ${name} is not declared: an operator must add it to GLEANER_SITES`,
  );
}

/** Returns the site and the address of a unit. Throws `invalid` if the site no longer has its host. */
export function placeOf(name: string, link: unknown): { site: SiteDeclaration; url: URL } {
  const url = URL.parse(text(link) ?? '');
  const site = siteOf(name, url ?? undefined);
  if (url !== null && hasHost(site, url)) return { site, url };
  throw new Fault(
    'invalid',
    `url: ${text(link)} is not on a host of ${site.name} (${site.hosts.join(', ')})`,
  );
}

/** Returns the request for a page of a site, which follows redirects within its hosts. */
export function pageRequest(url: URL, site: SiteDeclaration): PageRequest {
  return {
    path: url.pathname + url.search,
    origin: url.origin,
    headers: { accept: 'text/html,application/xhtml+xml' },
    redirects: (target) => hasHost(site, target),
  };
}

/**
 * Parses a page of a site. Throws the faults of statusFault(), and `page_mismatch` for a redirect to a host
 * that the site does not have.
 */
export function openPage(response: PageResponse, site: SiteDeclaration): SitePage & { text: string } {
  if (response.status < 200 || response.status > 299) throw statusFault(response, null);
  const url = URL.parse(response.url);
  if (url === null || !hasHost(site, url))
    throw new Fault(
      'page_mismatch',
      `${site.name} redirected to ${url?.host}, which is not one of its hosts`,
    );
  const html = bodyText(response);
  return { ...openSitePage(parseHtml(html), url.href, site), text: html };
}

/** Reads the record of a response, and the source of each of its fields. */
export function readProduct(
  response: PageResponse,
  input: JsonObject,
  region: string,
): { record: JsonObject; from: Record<string, string> } {
  const site = siteOf(region);
  const page = openPage(response, site);
  const read = readProductPage(page);
  if (read === null) {
    const asked = URL.parse(String(input.url))?.pathname;
    // Shops redirect from removed products to their first page.
    if (new URL(page.url).pathname === '/' && asked !== '/')
      throw new Fault('page_not_found', 'the site redirected to its first page');
    throw unexpectedPage(page.text, 'a product');
  }
  return { record: recordOf(read, page.url, site.name), from: read.from };
}

/**
 * Reads a product page of a declared site (docs/sites.md). `input` has the `url`; the region is the name of
 * the site. Prices are in currency units.
 */
export const product: RecordReader = {
  sort: 'record',
  async read(input, { region, fetch }) {
    const { url, site } = placeOf(region, input.url);
    return readProduct(await fetch(pageRequest(url, site)), input, region).record;
  },
  extract: (response, input, region) => readProduct(response, input, region).record,
};
