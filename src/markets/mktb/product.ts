import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageRequest, PageResponse } from '../../fetch/page.ts';
import { integer, number, object, objects, positive, text, without } from '../fields.ts';
import type { RecordReader } from '../market.ts';
import { deliveryLocation, isSite, joinPath, operation, parseData, site } from './graphql.ts';
import { productQuery } from './product-query.ts';

/** Members about the visitor or reviewers. */
const personal: ReadonlySet<string> = new Set([
  'user',
  'userID',
  'userId',
  'userLocation',
  'userName',
  'fullName',
  'reviewer',
  'reviewerID',
  'reviewerName',
]);

/** Conversions of listed fields. Fields that a page lacks, or writes in another type, are null. */
type Conversions = Readonly<Record<string, (value: unknown) => Json>>;

/** Listed fields of basicInfo (docs/kinds/product-pages-bulk.md). */
const listed: Conversions = {
  id: text,
  shopID: text,
  alias: text,
  createdAt: text,
  minOrder: integer,
  maxOrder: integer,
  weight: integer,
  weightUnit: text,
  url: text,
  condition: text,
  status: text,
  isLeasing: (value) => (typeof value === 'boolean' ? value : null),
  catalogID: text,
};
const listedStats: Conversions = {
  countView: text,
  countReview: text,
  countTalk: text,
  rating: number,
};
const listedTransactions: Conversions = {
  transactionSuccess: text,
  transactionReject: text,
  countSold: text,
};
const listedCategory: Conversions = { id: text, name: text, breadcrumbURL: text };

/** Returns the site's fields with the listed ones in their types. */
function converted(value: Json | undefined, conversions: Conversions): JsonObject {
  const site = object(value);
  const own = Object.entries(conversions).map(([name, convert]) => [name, convert(site[name])]);
  return { ...site, ...Object.fromEntries(own) };
}

function request(input: JsonObject): PageRequest {
  const shopDomain = String(input.shop_domain);
  const productKey = String(input.product_key);
  const page = joinPath(shopDomain, productKey);
  const userLocation = {
    cityID: deliveryLocation.cityId,
    addressID: '0',
    districtID: deliveryLocation.districtId,
    postalCode: '',
    latlon: '',
  };
  return operation(
    'PDPGetLayoutQuery',
    productQuery,
    {
      shopDomain,
      productKey,
      layoutID: '',
      apiVersion: 1,
      userLocation,
      extParam: '',
    },
    { referer: `${site}${page}`, 'x-tkpd-akamai': 'pdpGetLayout' },
    page,
  );
}

/** The site writes a single menu object, with "0" and "" for a shop without menus. */
function menus(menu: Json | undefined): JsonObject[] {
  const menus = objects(Array.isArray(menu) ? menu : [menu]);
  const namedMenus = menus.filter(({ name }) => text(name) !== null);
  return namedMenus.map((each) => converted(each, { name: text }));
}

const idOf = (basic: JsonObject): string | null => text(basic.id) ?? text(basic.productID);

function basicInfoOf(site: JsonObject): JsonObject {
  const category = object(site.category);
  const path = objects(category.detail).map((each) => converted(each, listedCategory));
  return {
    ...converted(site, listed),
    id: idOf(site),
    menu: menus(site.menu),
    category: { ...category, detail: path.filter(({ name }) => name !== null) },
    stats: converted(site.stats, listedStats),
    txStats: converted(site.txStats, listedTransactions),
  };
}

/**
 * Returns the two path segments of a product's address in lower case. Null for any other address.
 */
function partsOf(address: Json | undefined): { shop: string; key: string } | null {
  const url = URL.parse(text(address) ?? '', site);
  if (!url || !isSite(url)) return null;
  const [shop, key] = url.pathname.split('/').filter((part) => part !== '');
  if (shop && key) return { shop: shop.toLowerCase(), key: key.toLowerCase() };
  return null;
}

/**
 * Returns true if a response is about the requested key. A product's keys are its alias, its
 * address, its variants' addresses, and, since the sites' merger, a suffix of its long ids.
 */
function isSameKey(requestedKey: string, basic: JsonObject, components: JsonObject[]): boolean {
  const data = components.flatMap((component) => objects(component.data));
  const children = data.flatMap((part) => objects(part.children));
  const keys = statedKeysOf(basic, children);
  if (keys.includes(requestedKey)) return true;
  const ids = [basic, ...children]
    .flatMap(({ ttsPID, ttsSKUID }) => [ttsPID, ttsSKUID])
    .map(text)
    .filter((id) => id !== null);
  return ids.some((id) => requestedKey.endsWith(`-${id}`));
}

/** Returns the keys that a product's alias and addresses, and those of its variants, state. */
function statedKeysOf(basic: JsonObject, children: readonly JsonObject[]): string[] {
  const alias = text(basic.alias)?.toLowerCase();
  const addresses = [basic.url, ...children.map(({ productURL }) => productURL)];
  const addressKeys = addresses.map((address) => partsOf(address)?.key);
  return [alias, ...addressKeys].filter((key) => key !== undefined);
}

function checkIdentity(basic: JsonObject, components: JsonObject[], input: JsonObject): void {
  const shop = text(input.shop_domain)?.trim().toLowerCase();
  const key = text(input.product_key)?.trim().toLowerCase();
  const found = partsOf(basic.url);
  if (shop !== undefined && found && found.shop !== shop) {
    throw new Fault(
      'page_mismatch',
      `requested a product of shop ${shop}, got one of ${found.shop}`,
    );
  }
  if (key !== undefined && !isSameKey(key, basic, components)) {
    throw new Fault(
      'page_mismatch',
      `requested product ${key}, got ${text(basic.alias) ?? found?.key ?? 'one without a key'}`,
    );
  }
}

function isNamed(value: Json | undefined): boolean {
  const name = text(value);
  return name !== null && name !== '0';
}

/** Returns true if a product has a title or a price. Others are rejected. */
function hasTitleOrPrice(components: readonly JsonObject[]): boolean {
  const contents = components.filter(({ name }) => name === 'product_content');
  for (const { name, price } of contents.flatMap(({ data }) => objects(data))) {
    if (text(name) !== null) return true;
    if (positive(object(price).value) !== null) return true;
  }
  return false;
}

function extract(response: PageResponse, input: JsonObject): JsonObject {
  const layout = parseData(response, ['pdpGetLayout', 'variants'], 'product', 'page_not_found');
  const basic = layout.basicInfo;
  if (basic === undefined && Object.keys(layout).length > 0) {
    throw new Fault('page_unreadable', 'the response has a page layout without basicInfo');
  }
  if (basic !== undefined && basic !== null && !isObject(basic)) {
    throw new Fault('page_unreadable', 'basicInfo in the response is not an object');
  }
  if (!isObject(basic) || ![basic.alias, basic.id, basic.productID].some(isNamed)) {
    throw new Fault('page_not_found', 'the site has no product under this shop and key');
  }
  if (idOf(basic) === null) {
    throw new Fault('page_unreadable', 'basicInfo in the response has no id');
  }
  const components = objects(layout.components);
  checkIdentity(basic, components, input);
  if (!hasTitleOrPrice(components)) {
    throw new Fault(
      'page_unreadable',
      'the page layout states neither a title nor a price of the product',
    );
  }
  const variants = { ...layout, basicInfo: basicInfoOf(basic), components };
  return { data: { variants: without(variants, personal) } };
}

/**
 * Reads a product page: the site's page layout under `data.variants`, with its `components` and its
 * `basicInfo`, whose `menu` is an array and whose listed fields are always present (interface,
 * "JSONL line shapes"). Prices are in rupiah. `input` has `shop_domain` and `product_key`.
 */
export const product: RecordReader = {
  sort: 'record',
  read: async (input, { fetch }) => extract(await fetch(request(input)), input),
  extract: (response, input) => extract(response, input),
};
