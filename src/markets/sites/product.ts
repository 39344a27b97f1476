import type { JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageRequest, PageResponse } from '../../fetch/page.ts';
import { hasHost, type SiteDeclaration } from '../declared-sites/site-declaration.ts';
import { siteOf } from '../declared-sites/site-page.ts';
import { readProduct } from '../declared-sites/site-product.ts';
import { text } from '../fields.ts';
import type { RecordReader } from '../market.ts';

/**
 * Returns the site and the address of a unit. Throws `invalid` if the site no longer has its host.
 */
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

/** Time for which a browser waits for the element of `wait_for`, in milliseconds. */
const declaredReadyMs = 8_000;

/** Codes of faults of a page that its scripts have not filled yet. */
const pendingCodes: ReadonlySet<string> = new Set(['page_empty', 'page_unreadable']);

type ProductReading = ReturnType<typeof readProduct>;

/**
 * Reads the responses of one unit, and parses the bytes that a browser has asked about only once.
 */
class UnitReader {
  readonly #input: JsonObject;
  readonly #site: SiteDeclaration;
  #last: { body: Buffer; product: ProductReading } | null = null;

  constructor(input: JsonObject, site: SiteDeclaration) {
    this.#input = input;
    this.#site = site;
  }

  read(response: PageResponse): ProductReading {
    if (this.#last?.body === response.body) return this.#last.product;
    const product = readProduct(response, this.#input, this.#site.name);
    this.#last = { body: response.body, product };
    return product;
  }

  /**
   * Returns true if the page needs no more time: its product has the element of `wait_for`, a
   * price, or no stock, or the page is not one of a product.
   */
  isReady(document: PageResponse): boolean {
    try {
      const { record } = this.read(document);
      return (
        this.#site.wait_for !== undefined || record.price !== null || record.available === false
      );
    } catch (error) {
      return !pendingCodes.has(Fault.from(error).code);
    }
  }
}

/**
 * Reads a product page of a declared site (docs/sites.md). `input` has the `url`; the region is the
 * name of the site. Prices are in currency units. The record has `pending_fields` with "price" if a
 * browser stopped waiting for the price.
 */
export const product: RecordReader = {
  sort: 'record',
  async read(input, { region, fetch, reportContradictions }) {
    const { url, site } = placeOf(region, input.url);
    const reader = new UnitReader(input, site);
    const response = await fetch({
      ...pageRequest(url, site),
      isReady: (document) => reader.isReady(document),
      ...(site.wait_for === undefined ? {} : { readyMs: declaredReadyMs }),
    });
    const { record, contradictions } = reader.read(response);
    reportContradictions?.(contradictions.map(({ field }) => field));
    const isPending = response.isPending === true && record.price === null;
    return isPending ? { ...record, pending_fields: ['price'] } : record;
  },
  extract: (response, input, region) => readProduct(response, input, region).record,
};
