import type { JsonObject } from '../../base/json.ts';
import type { PageRequest } from '../../fetch/page.ts';

/** Where the site's own pages are: its addresses of products and shops start with it. */
export const site = 'https://www.tokopedia.com';

/** Whether an address is on the site itself: its two path parts name a shop and a product. Promoted
 *  links and the merged sites' pages are on other hosts. */
export function isSite(url: URL): boolean {
  return /^(?:www\.|m\.)?tokopedia\.com$/.test(url.hostname);
}

/** A selection of fields with the type name asked for at every level, as the site's own pages do. */
export function typed(selection: string): string {
  return selection.replaceAll('}', ' __typename }').replace(/\s+/g, ' ').trim();
}

/** The request of one GraphQL operation, sent as an array of one as the site's own pages do. `page`: path
 *  and query of a page that sends it too; null where none is known. */
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
export function pathOf(...parts: string[]): string {
  return parts.map((part) => `/${encodeURIComponent(part)}`).join('');
}

/** The part of the country that prices and stock are asked for: the site's default, central Jakarta. */
export const place = { cityId: '176', districtId: '2274' } as const;
