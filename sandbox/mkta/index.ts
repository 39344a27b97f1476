import { getChange } from '../changes.ts';
import type { Origin, OriginReply, OriginRequest } from '../origin.ts';
import { isSigned } from '../request-signature.ts';
import { page } from './pages.ts';
import { productPage } from './product-page.ts';
import { blockedByName, notFound, refusals } from './refusals.ts';
import { regions } from './regions.ts';
import { searchResponse } from './search.ts';
import { shopActive, shopSearch } from './shop.ts';

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' };

function json(body: string): OriginReply {
  return { status: 200, headers: jsonHeaders, body };
}

const interfacePath = '/api/';

/**
 * Returns the item, shop, keyword or category of a request. Requests for HTML pages have no
 * subject; the requests of their scripts do.
 */
function subject({ url }: OriginRequest): string | undefined {
  if (!url.pathname.startsWith(interfacePath)) return undefined;
  const query = url.searchParams;
  return (
    query.get('item_id') ??
    query.get('shop_id') ??
    query.get('shopid') ??
    query.get('keyword') ??
    query.get('match_id') ??
    undefined
  );
}

/** Product pages with wrong data, by the id's last digits (README.md). */
function special(region: string, itemId: number, shopId: number): string | undefined {
  const page = () => productPage(region, itemId, shopId);
  switch (getChange('mkta', region, itemId).isRemoved ? 801 : itemId % 1000) {
    case 801:
      return page().replace(/"item_status":"\w+"/, '"item_status":"deleted"');
    case 802:
      return page().replace(/"item_status":"\w+"/, '"item_status":"banned"');
    case 803:
      return productPage(region, itemId + 100_000, shopId);
    case 804:
      return page()
        .replace(/"price_min":(?:\d+|null)/, '"price_min":99900000000000')
        .replace(/("raw_discount":\d+,)/, '"price":100000,$1');
    case 805:
      return page().replace(/"ctime":\d+/, '"ctime":4102444800');
    case 806:
      return productPage(region, itemId, shopId + 1);
    default:
      return undefined;
  }
}

function product({ url, region }: OriginRequest): OriginReply {
  const itemId = url.searchParams.get('item_id') ?? '';
  const shopId = url.searchParams.get('shop_id') ?? '';
  if (!/^[1-9]\d{0,13}$/.test(itemId) || !/^[1-9]\d{0,13}$/.test(shopId)) return notFound;
  const ids = [Number(itemId), Number(shopId)] as const;
  return json(special(region, ...ids) ?? productPage(region, ...ids));
}

const responders: Readonly<Record<string, (request: OriginRequest) => OriginReply>> = {
  '/api/v4/pdp/get_pc': product,
  '/api/v4/search/search_items': ({ url, region }) =>
    json(searchResponse(region, url.searchParams)),
  '/api/v4/shop/search_items': ({ url, region }) => json(shopSearch(region, url.searchParams)),
  '/api/v4/shop/rcmd_items': ({ url, region }) => json(shopActive(region, url.searchParams)),
};

/** Marketplace A: invented items in all eight regions. */
export const mkta: Origin = {
  market: 'mkta',
  regions: Object.keys(regions),
  subject,
  blocked: () => blockedByName,
  plain: (request) =>
    request.url.pathname.startsWith(interfacePath) && !isSigned(request)
      ? blockedByName
      : undefined,
  respond: (request) => {
    const respond = responders[request.url.pathname];
    if (respond) return refusals[subject(request)?.slice(-3) ?? ''] ?? respond(request);
    return (
      page(request) ?? { status: 404, headers: { 'content-type': 'text/plain' }, body: 'not found' }
    );
  },
};
