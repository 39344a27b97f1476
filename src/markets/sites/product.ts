import { Fault } from '../../contract/fault.ts';
import type { PageRequest } from '../../fetch/page.ts';
import { text } from '../fields.ts';
import type { RecordReader } from '../market.ts';
import { hasHost, type SiteDeclaration } from '../site-declaration.ts';
import { siteOf } from '../site-page.ts';
import { readProduct } from '../site-product.ts';

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
 * Reads a product page of a declared site (docs/sites.md). `input` has the `url`; the region is the name of
 * the site. Prices are in currency units.
 */
export const product: RecordReader = {
  sort: 'record',
  async read(input, { region, fetch, reportContradictions }) {
    const { url, site } = placeOf(region, input.url);
    const { record, contradictions } = readProduct(await fetch(pageRequest(url, site)), input, region);
    reportContradictions?.(contradictions.map(({ field }) => field));
    return record;
  },
  extract: (response, input, region) => readProduct(response, input, region).record,
};
