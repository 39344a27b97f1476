import type { JsonObject } from '../../base/json.ts';
import type { PageRequest } from '../../fetch/page.ts';

/** Base address of the site's own pages, products and shops. */
export const site = 'https://www.tokopedia.com';

/**
 * Returns true if an address is a product page of the site: its two path segments name a shop and a product.
 * Promoted links and pages of merged sites have other hosts.
 */
export function isSite(url: URL): boolean {
  return /^(?:www\.|m\.)?tokopedia\.com$/.test(url.hostname);
}

/** Builds a selection of fields with `__typename` at every level, as the site's own pages do. */
export function typed(selection: string): string {
  return selection.replaceAll('}', ' __typename }').replace(/\s+/g, ' ').trim();
}

/**
 * Builds the request of a GraphQL operation, sent in an array as the site's own pages do. `page` is the path
 * and query of a page that sends the same operation. Null if none is known.
 */
export function operation(
  operationName: string,
  query: string,
  variables: JsonObject,
  headers: Record<string, string>,
  page: string | null,
): PageRequest {
  return {
    ...(page === null ? {} : { page: { path: page, take: 'response' } }),
    method: 'POST',
    path: `/graphql/${operationName}`,
    headers: {
      accept: '*/*',
      'content-type': 'application/json',
      'accept-language': 'id-ID',
      origin: site,
      referer: `${site}/`,
      'x-device': 'desktop',
      'x-source': 'tokopedia-lite',
      'x-tkpd-lite-service': 'zeus',
      ...headers,
    },
    body: JSON.stringify([{ operationName, variables, query }]),
  };
}

/** A path of the site. */
export function joinPath(...parts: string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}

/** Location for prices and stock: the site's default, central Jakarta. */
export const place = { cityId: '176', districtId: '2274' } as const;
