import { productPage } from './mkta/product-page.ts';
import { blockedByName, notFound, refusals } from './mkta/refusals.ts';
import { regions } from './mkta/regions.ts';
import { searchAnswer } from './mkta/search.ts';
import { shopActive, shopSearch } from './mkta/shop.ts';
import type { Origin, OriginReply, OriginRequest } from './origin.ts';

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' };

function json(body: string): OriginReply {
  return { status: 200, headers: jsonHeaders, body };
}

/** Item or shop named in the query, keyword or category: whatever the request is about. */
function subject({ url }: OriginRequest): string | undefined {
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

/** Product pages that lie, by the id's last digits (README.md). */
function special(region: string, itemId: number, shopId: number): string | undefined {
  const page = () => productPage(region, itemId, shopId);
  switch (itemId % 1000) {
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

const pages: Readonly<Record<string, (request: OriginRequest) => OriginReply>> = {
  '/api/v4/pdp/get_pc': product,
  '/api/v4/search/search_items': ({ url, region }) => json(searchAnswer(region, url.searchParams)),
  '/api/v4/shop/search_items': ({ url, region }) => json(shopSearch(region, url.searchParams)),
  '/api/v4/shop/rcmd_items': ({ url, region }) => json(shopActive(region, url.searchParams)),
};

/** Marketplace A: items of our own in all eight regions. */
export const mkta: Origin = {
  market: 'mkta',
  regions: Object.keys(regions),
  subject,
  blocked: () => blockedByName,
  answer: (request) => {
    const page = pages[request.url.pathname];
    if (!page) return { status: 404, headers: { 'content-type': 'text/plain' }, body: 'not found' };
    return refusals[subject(request)?.slice(-3) ?? ''] ?? page(request);
  },
};
