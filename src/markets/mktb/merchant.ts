import type { JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageRequest, PageResponse } from '../../fetch/page.ts';
import { integer, list, object, objects, positive, text } from '../fields.ts';
import type { ListReader } from '../market.ts';
import { newEntries } from '../new-entries.ts';
import { errorMessage } from '../responses/response.ts';
import { address, discount, id, plain, price, reviews, soldLabel, stars } from './card.ts';
import { deliveryLocation, joinPath, operation, parseData } from './graphql.ts';
import { productsQuery, shopQuery } from './shop-query.ts';

const perPage = 80;
/** Maximum pages of a shop. Real shops have fewer pages, so a longer listing is faulty. */
const maxPages = 5000;
const everything = 'etalase';

const device = { 'x-device': 'default_v3' };

function shopRequest(shop: string): PageRequest {
  const numeric = /^\d+$/.test(shop);
  const variables = { id: numeric ? Number(shop) : 0, domain: numeric ? '' : shop };
  return operation('ShopInfoCore', shopQuery, variables, device, numeric ? null : joinPath(shop));
}

/** A shop's number, its name in addresses and its display name. */
interface Shop {
  sid: string;
  domain: string | null;
  name: string | null;
}

/** Returns the shop of a response. Throws `page_not_found` for an unknown shop. */
function parseShop(response: PageResponse, requestedShop: string): Shop {
  const info = parseData(response, ['shopInfoByID'], 'shop', 'page_failed');
  const core = object(objects(info.result)[0]?.shopCore);
  const sid = id(core.shopID);
  if (sid === null) {
    const words = errorMessage({ error: info.error ?? null });
    const details = words === null ? '' : `: ${words}`;
    throw new Fault('page_not_found', `the site has no shop ${requestedShop}${details}`);
  }
  const domain = text(core.domain)?.toLowerCase();
  if (sid !== requestedShop && domain !== undefined && domain !== requestedShop.toLowerCase()) {
    throw new Fault('page_mismatch', `requested shop ${requestedShop}, got ${sid} (${domain})`);
  }
  return { sid, domain: text(core.domain), name: text(core.name) };
}

/** Returns the shop's page with these products. Null if the shop's name in addresses is unknown. */
function pageOf(domain: string | null, input: JsonObject, page: number): string | null {
  if (domain === null) return null;
  const etalase = text(input.etalase_id);
  const keyword = text(input.keyword);
  const list = etalase === null || etalase === everything ? ['product'] : ['etalase', etalase];
  const query = keyword === null ? '' : `?${new URLSearchParams({ q: keyword })}`;
  return `${joinPath(domain, ...list, 'page', String(page))}${query}`;
}

function productsRequest({ sid, domain }: Shop, input: JsonObject, page: number): PageRequest {
  const variables = {
    sid,
    source: 'shop',
    page,
    perPage,
    keyword: text(input.keyword) ?? '',
    etalaseId: text(input.etalase_id) ?? everything,
    sort: 1,
    user_districtId: deliveryLocation.districtId,
    user_cityId: deliveryLocation.cityId,
    user_lat: '',
    user_long: '',
  };
  return operation('ShopProducts', productsQuery, variables, device, pageOf(domain, input, page));
}

function entry(product: JsonObject, input: JsonObject): JsonObject {
  const campaign = object(product.campaign);
  const stats = object(product.stats);
  const image = object(product.primary_image);
  return {
    ...plain(product),
    id: id(product.product_id, product.id),
    name: text(product.name),
    price: price(object(product.price).text_idr, object(product.price).value, product.price),
    original_price: price(campaign.original_price_fmt, campaign.original_price),
    discount_percentage: discount(campaign.discounted_percentage),
    rating: stars(stats.averageRating) ?? stars(stats.rating),
    review_count: reviews(stats.reviewCount),
    sold_count: soldLabel(product.label_groups),
    etalase: text(input.etalase_id),
    url: address(product.product_url, product.url),
    image_url: address(image.original, image.resize300, image.thumbnail),
    condition: null,
    stock: null,
  };
}

interface Listing {
  products: JsonObject[];
  /** False for the last page. True if the site does not mark the last page. */
  more: boolean;
  /** True if the site links to a further page. */
  isLinked: boolean;
  /** True if the site links to a further page, or, without links, the page is full. */
  isFollowed: boolean;
}

function listing(response: PageResponse): Listing {
  const root = parseData(response, ['GetShopProduct'], 'shop', 'page_failed');
  const words = errorMessage({ errors: root.errors ?? null });
  if (words !== null && list(root.data).length === 0) {
    throw new Fault('page_failed', `the shop's listing returned an error: ${words}`);
  }
  // The site writes null for a page without products.
  if (root.data !== null && !Array.isArray(root.data)) {
    throw new Fault('page_unreadable', "the response has no list of the shop's products");
  }
  const products = objects(root.data);
  if (products.length === 0 && list(root.data).length > 0) {
    throw new Fault(
      'page_unreadable',
      "the response's list of the shop's products has no products",
    );
  }
  const { next } = object(root.links);
  // Without links, the listing ends at its first empty page.
  const more = next !== '';
  const isLinked = text(next) !== null;
  return {
    products,
    more,
    isLinked,
    isFollowed: more && (isLinked || products.length >= perPage),
  };
}

function extract(response: PageResponse, input: JsonObject): JsonObject[] {
  const products = listing(response).products.map((product) => entry(product, input));
  return newEntries(products, new Set(), ({ id }) => text(id));
}

/**
 * Reads the products of a shop, or of one of its sections (`etalase_id`), into `products`: the
 * documented fields with prices in rupiah, and the site's other fields. The summary has
 * `store_name`, `has_more` and `total_products`, the number yielded. `input` has `shopid` (a
 * number, or the shop's name in URLs), `etalase_id`, `keyword` and `max_pages`. Ends if the site
 * names no next page, at an empty page, at a page without new products, or at `max_pages`.
 * `has_more` is also true if the site linked to the empty page.
 */
export const merchant: ListReader = {
  sort: 'list',
  async *read(input, { fetch }) {
    const shopid = String(input.shopid).trim();
    const shop = parseShop(await fetch(shopRequest(shopid)), shopid);
    const pages = Math.min(positive(integer(input.max_pages)) ?? maxPages, maxPages);
    const seen = new Set<string>();
    let isLinked = false;
    let hasMore = false;
    for (let page = 1; page <= pages; page += 1) {
      const found = listing(await fetch(productsRequest(shop, input, page)));
      const products = found.products.map((product) => entry(product, input));
      const added = newEntries(products, seen, ({ id }) => text(id));
      if (added.length === 0) {
        hasMore = found.products.length > 0 ? found.isFollowed : isLinked;
        break;
      }
      isLinked = found.isLinked;
      yield { list: 'products', entries: added };
      if (!found.more) break;
      hasMore = page === pages && found.isFollowed;
    }
    return { store_name: shop.name, total_products: seen.size, has_more: hasMore };
  },
  extract: (response, input) => extract(response, input),
};
