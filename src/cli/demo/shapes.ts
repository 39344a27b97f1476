/**
 * The listed fields of every result record, as the interface lists them ("Resources and their
 * fields"): `path: type`, where `[]` goes into every element and `?` allows null.
 */
const variantSold = `collected_at: integer; cbOption: any; cmtCount: integer?; condition: any; createTime: integer?;
  currency: string?; description: string?; flag: any; globalBrandId: any; images: array; images[]: string;
  itemCardV2.displayPrice: object; itemId: string; likedCount: integer?; localBrand: string?; localCatIds: array;
  shopId: string; country: string; title: string?; historicalSold: integer?; rating: any; models: array;
  models[].modelId: any; models[].name: string?; models[].price: number?; models[].stock: integer?;
  models[].sold: integer?; models[].tierIndex: array?`;

const getPc = `collected_at: integer; bff_meta: any; error: any; error_msg: any; data.item.item_id: integer;
  data.item.shop_id: integer; data.item.item_status: string; data.item.title: string; data.item.label_ids: array`;

const searchItems = `collected_at: integer; success: boolean; url: string; total_items: integer; items: array;
  items[].itemid: integer; items[].shopid: integer; items[].name: string?; items[].price: integer?;
  items[].price_min: integer?; items[].price_max: integer?; items[].stock: integer?; items[].sold: integer?;
  items[].historical_sold: integer?; items[].liked_count: integer?; items[].cmt_count: integer?;
  items[].item_rating: object?; items[].shop_location: string?; items[].shop_name: string?;
  items[].is_official_shop: boolean?; items[].tier_variations: array`;

const merchantItems = `collected_at: integer; success: boolean; shops.*.page_url: string; shops.*.page_type: string;
  shops.*.page_params.shop_id: any; shops.*.items.items: array; shops.*.items.total_fetched: integer;
  shops.*.items.total_count: integer?; shops.*.items.pages_fetched: integer; shops.*.items.has_more: boolean;
  shops.*.rcmd_items.items: array; shops.*.rcmd_items.items[].itemid: integer`;

const mktbProduct = `shop_domain: string; product_key: string; response.data.variants.basicInfo.id: string;
  response.data.variants.basicInfo.shopID: string; response.data.variants.basicInfo.alias: string;
  response.data.variants.basicInfo.createdAt: string?; response.data.variants.basicInfo.category.detail: array;
  response.data.variants.basicInfo.stats: object?; response.data.variants.basicInfo.txStats: object?;
  response.data.variants.basicInfo.menu: array`;

const mktcProduct = `item_id: string?; formattedId: string; sku: string; pickupPointCode: string?; response.status: any;
  response.statusCode: integer?; response.message: any; response.data.summary.id: string;
  response.data.summary.name: string; response.data.summary.price: object; response.data.summary.price.price: number?;
  response.data.summary.stock: integer?; response.data.summary.merchant: object; response.data.items: array`;

const mktdProduct = `item_id: string; country: string; response._scraped_at: string; response._product_id: string;
  response._country: string; response.product.id: string; response.product.title: string; response.product.price: any;
  response.product.stock: integer?; response.product.sold: integer?; response.skus: array; response.skus[].id: string`;

const mkteProduct = `item_id: string; country: string; response._scraped_at: string; response._asin: string;
  response._country: string; response.title: string; response.price.amount: number?; response.price.currency: string?;
  response.availability: string?; response.rating: number?; response.review_count: integer?; response.images: array;
  response.features: array; response.specifications: array; response.variants: array; response.seller: object`;

const searched = `products[].id: string; products[].name: string?; products[].price: number?;
  products[].original_price: number?; products[].discount_percentage: number?; products[].rating: number?;
  products[].review_count: integer?; products[].sold_count: integer?; products[].url: string?;
  products[].image_url: string?; products[].condition: string?`;

/** Shapes by the market and page of what a file holds, one record at a time. */
export const shapes = {
  variantSold,
  getPc,
  searchItems,
  merchantItems,
  mktbProduct,
  mktcProduct,
  mktdProduct,
  mkteProduct,
  mktbSearch: `batch_id: string; keyword: string; list_type: string; products: array; ${searched};
    products[].shop_id: string?; products[].shop_domain: string?; products[].free_shipping: boolean?`,
  mktbMerchant: `shopid: string; store_name: string?; batch_id: string; products: array; total_products: integer;
    ${searched}; products[].etalase: string?; products[].stock: integer?`,
  mktcMerchant: `shopid: string; store_name: string?; batch_id: string; products: array; ${searched};
    products[].brand: string?; products[].category: string?; products[].stock: integer?; products[].merchant: object?`,
  mkteSearch: `batch_id: string; list_type: string; keyword: string; country: string; total_products: integer;
    products: array; products[].asin: string; products[].title: string?; products[].price: string?;
    products[].original_price: string?; products[].currency: string?; products[].rating: string?;
    products[].review_count: string?; products[].thumbnail: string?; products[].url: string?;
    products[].is_prime: boolean; products[].is_sponsored: boolean; scraped_pages: integer; submit_date: string;
    submit_hour: string`,
  mktfSearch: `url: string; store: string; collection: string?; total_products: integer; pages_fetched: integer;
    products: array; products[].id: integer; products[].variants: array; collected_at: integer`,
};

/** What a record lacks of its shape: one sentence per field that is missing or of another type. */
export function missesOf(record: unknown, shape: string): string[] {
  return shape.split(';').flatMap((line) => {
    const [path, type] = line.split(':').map((part) => part.trim()) as [string, string];
    return valuesAt(record, path.split(/\.|(?=\[\])/)).flatMap((value) =>
      fits(value, type) ? [] : [`${path} is ${JSON.stringify(value)?.slice(0, 60)}, not ${type}`],
    );
  });
}

function valuesAt(value: unknown, [step, ...rest]: string[]): unknown[] {
  if (step === undefined) return [value];
  // A null above is told of by its own line.
  if (value === null || value === undefined)
    return rest.length === 0 && value === undefined ? [undefined] : [];
  if (step === '[]') return Array.isArray(value) ? value.flatMap((element) => valuesAt(element, rest)) : [];
  if (step === '*') return Object.values(value).flatMap((member) => valuesAt(member, rest));
  return valuesAt((value as Record<string, unknown>)[step], rest);
}

function fits(value: unknown, type: string): boolean {
  if (value === undefined) return false;
  if (value === null) return type.endsWith('?') || type === 'any';
  switch (type.replace('?', '')) {
    case 'any':
      return true;
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return typeof value === 'object' && !Array.isArray(value);
    default:
      return typeof value === type.replace('?', '');
  }
}
