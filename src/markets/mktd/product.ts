import type { JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import { pathPart } from '../../contract/path-part.ts';
import type { PageRequest, PageResponse } from '../../fetch/page.ts';
import { number, object, objects, text, without } from '../fields.ts';
import type { ReadContext, RecordReader } from '../market.ts';
import { pageTime } from '../responses/response.ts';
import { cheapest, totalStock } from '../tracked.ts';
import { readBaseProduct } from './base-product.ts';
import { readModelProduct } from './model-product.ts';
import type { ProductReading, Property, Sku } from './product-data.ts';
import { type ProductData, productData } from './router-data.ts';

/** Values of the `accept-language` header by region. */
const languages: Readonly<Record<string, string>> = {
  id: 'id-ID',
  my: 'en-MY',
  sg: 'en-SG',
  th: 'th-TH',
  vn: 'vi-VN',
  ph: 'en-PH',
};

/** Region codes of the market (docs/marketplaces.md). */
export const regions: readonly string[] = Object.keys(languages);

/**
 * Builds the request for a product page. The shop of region id moved to a site with short paths;
 * other paths name the region. It has no credentials or computed anti-bot values.
 */
function productRequest(productId: string, region: string): PageRequest {
  const id = pathPart(productId);
  const path = region === 'id' ? `/view/product/${id}` : `/shop/${pathPart(region)}/pdp/${id}`;
  return {
    path: `${path}?region=${pathPart(region.toUpperCase())}`,
    headers: { accept: 'text/html', 'accept-language': languages[region] ?? 'en' },
    redirects: 'same_origin',
  };
}

/** Members about buyers and visitors at any depth of the page's data. */
const personal: ReadonlySet<string> = new Set([
  'review_items',
  'review_user',
  'product_reviews',
  'hot_reviews',
  'reviewer_id',
  'reviewer_name',
  'reviewer_link',
  'reviewer_avatar_url',
  'user_info',
  'shipping_to_address_info',
  'default_address_id',
]);

/** Names that the page's own data must not override, and members that only mark missing data. */
const taken: ReadonlySet<string> = new Set(['product', 'skus', 'error_code', 'error_message']);

/** Labels of the brand field in every language of the site. */
const brandNames: ReadonlySet<string> = new Set(
  ['Brand', 'Brand Name', 'Merek', 'Jenama', 'Thương hiệu', 'ยี่ห้อ', 'แบรนด์', 'Tatak', '品牌'].map(
    (name) => name.toLowerCase(),
  ),
);

function categoryOf(data: JsonObject): string | null {
  const named = objects(data.categories)
    .map((category, index) => ({
      name: text(category.category_name),
      level: number(category.level) ?? index,
    }))
    .filter(({ name }) => name !== null);
  return named.reduce(
    (deepest, category) => (category.level >= deepest.level ? category : deepest),
    {
      name: null as string | null,
      level: Number.NEGATIVE_INFINITY,
    },
  ).name;
}

function brandOf(values: ProductReading): string | null {
  const named = ({ name }: Property) => brandNames.has(name.trim().toLowerCase());
  return values.brand ?? values.specifications.find(named)?.value ?? null;
}

/** Returns true if the SKUs have prices in several currencies, so that none is the lowest. */
function hasSeveralCurrencies({ skus }: ProductReading): boolean {
  const priced = skus.filter(({ price, currency }) => price !== null && currency !== null);
  return new Set(priced.map(({ currency }) => currency)).size > 1;
}

/**
 * Returns the SKU with the lowest price. Undefined without a price, and if the page states a lower
 * one, which is that of a SKU without a price.
 */
function lowestPriced({ skus, price: statedPrice }: ProductReading): Sku | undefined {
  const lowest = cheapest(skus);
  const isStatedLower = statedPrice !== null && statedPrice < (lowest?.price ?? 0);
  if (isStatedLower && skus.some(({ price }) => price === null)) return undefined;
  return lowest;
}

/** Returns the page's own address of the product without tracking parameters. */
function addressOf(addresses: readonly string[], id: string): string | null {
  return addresses.find((address) => address.includes(id))?.replace(/[?#].*$/s, '') ?? null;
}

function productOf(
  values: ProductReading,
  { data, addresses }: ProductData,
  id: string,
): JsonObject {
  const isMixed = hasSeveralCurrencies(values);
  const lowest = isMixed
    ? { price: null, original_price: null, currency: null }
    : lowestPriced(values);
  return {
    id,
    title: values.title,
    description: values.description,
    category: categoryOf(data),
    brand: brandOf(values),
    price: lowest ? lowest.price : values.price,
    original_price: lowest ? lowest.original_price : values.originalPrice,
    currency: isMixed ? null : (lowest?.currency ?? values.currency),
    stock: totalStock(values.skus.map(({ stock }) => stock)),
    sold: values.sold,
    rating: values.rating,
    totalReview: values.reviews,
    seller: values.seller,
    url: addressOf(addresses, id),
    condition: null,
    status: values.status,
    images: values.images,
    specifications: values.specifications.map((entry) => ({ ...entry })),
  };
}

function readingOf({ data, info, components }: ProductData): ProductReading {
  const shop = {
    ...object(components.get('shop_info')),
    ...object(data.shop_info),
    ...object(info.shop_info),
  };
  if ('product_model' in info) return readModelProduct(info, data, shop);
  return readBaseProduct(info);
}

/** Returns the product id in the first address with one: the page's own precede the response's. */
function idIn(addresses: readonly string[]): string | null {
  const ids = addresses.map((address) => /\/(\d{6,25})(?=[/?#]|$)/.exec(address)?.[1]);
  return ids.find((id) => id !== undefined) ?? null;
}

function checked(
  values: ProductReading,
  { info, addresses }: ProductData,
  requestedId: string,
): void {
  const gone = text(object(info.unavailable_info).text);
  if (gone !== null && values.price === null && lowestPriced(values) === undefined) {
    throw new Fault(
      'page_not_found',
      `the site no longer offers this product: ${gone.slice(0, 200)}`,
    );
  }
  if (values.title === null) {
    throw new Fault('page_unreadable', 'the product data on the page have no title');
  }
  const id = text(values.id) ?? idIn(addresses);
  if (id === requestedId) return;
  const other = id?.slice(0, 40) ?? 'that it does not name';
  throw new Fault('page_mismatch', `the page is about product ${other}, not ${requestedId}`);
}

/** Returns the page's own product data, without the names of listed fields. */
function besides({ data, components }: ProductData): JsonObject {
  const shop = components.get('shop_info');
  const all = object(without(shop ? { shop_info: shop, ...data } : data, personal));
  return Object.fromEntries(Object.entries(all).filter(([name]) => !taken.has(name)));
}

function extract(response: PageResponse, input: JsonObject, region: string): JsonObject {
  const requestedId = String(input.product_id);
  const found = productData(response, region);
  const values = readingOf(found);
  checked(values, found, requestedId);
  return {
    _scraped_at: new Date(pageTime(response)).toISOString(),
    _product_id: requestedId,
    _country: text(input.country) ?? region,
    product: productOf(values, found, requestedId),
    skus: values.skus.map((sku) => ({
      ...sku,
      properties: sku.properties.map((entry) => ({ ...entry })),
    })),
    ...besides(found),
  };
}

/**
 * Reads a product page of either generation (docs/kinds/product-pages-bulk.md): the listed fields
 * in `product` and `skus` with money in currency units, and the page's own product data without
 * buyers and visitors. `input` has `product_id` and `country`. Throws the faults of productData();
 * `page_not_found` for a withdrawn product; `page_mismatch` for another product's page.
 */
export const product: RecordReader = {
  sort: 'record',
  read: async (input: JsonObject, { region, fetch }: ReadContext) =>
    extract(await fetch(productRequest(String(input.product_id), region)), input, region),
  extract,
};
