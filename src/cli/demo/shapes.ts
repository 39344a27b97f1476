/**
 * The listed fields of every result record, as the interface lists them ("Resources and their
 * fields"): `path: type`, where `[]` goes into every element, `*` into every member, and `?` allows
 * null. What a page lacks is null, or an empty array.
 */
const variantSold = `collected_at: integer; cbOption: integer?; cmtCount: integer?; condition: integer?;
  createTime: integer?; currency: string?; description: string?; flag: any; globalBrandId: integer?; images: array;
  images[]: string; itemCardV2.displayPrice: object; itemCardV2.displayPrice.currency: string?;
  itemCardV2.displayPrice.discount: any; itemCardV2.displayPrice.discountPrice: string?;
  itemCardV2.displayPrice.discountText: object; itemCardV2.displayPrice.discountText.text: string?;
  itemCardV2.displayPrice.discountText.buyerTranslatedText: object;
  itemCardV2.displayPrice.discountText.buyerTranslatedText.source: string?;
  itemCardV2.displayPrice.discountText.buyerTranslatedText.translatedLanguage: string?;
  itemCardV2.displayPrice.discountText.buyerTranslatedText.translatedText: string?;
  itemCardV2.displayPrice.displayFinalPriceIcon: any; itemCardV2.displayPrice.priceMask: string?;
  itemId: string; likedCount: integer?; localBrand: string?; localCatIds: array; localCatIds[]: integer;
  shopId: string; country: string; title: string?; historicalSold: integer?; rating: number?; models: array;
  models[].modelId: string?; models[].name: string?; models[].price: number?; models[].stock: integer?;
  models[].sold: integer?; models[].tierIndex: array?`;

const getPc = `collected_at: integer; bff_meta: any; error: any; error_msg: any; data.item: object;
  data.item.item_id: integer; data.item.shop_id: integer; data.item.item_status: string?; data.item.status: integer?;
  data.item.item_type: integer?; data.item.reference_item_id: string?; data.item.title: string?;
  data.item.image: string?; data.item.label_ids: array; data.item.label_ids[]: integer`;

const listedItem = (path: string) => `${path}.itemid: integer; ${path}.shopid: integer; ${path}.name: string?;
  ${path}.price: integer?; ${path}.price_min: integer?; ${path}.price_max: integer?; ${path}.stock: integer?;
  ${path}.sold: integer?; ${path}.historical_sold: integer?; ${path}.liked_count: integer?;
  ${path}.cmt_count: integer?; ${path}.item_rating: object?; ${path}.item_rating.rating_star: number?;
  ${path}.item_rating.rating_count: array; ${path}.item_rating.rating_count[]: integer;
  ${path}.shop_location: string?; ${path}.shop_name: string?; ${path}.is_official_shop: boolean?;
  ${path}.tier_variations: array; ${path}.tier_variations[].name: string; ${path}.tier_variations[].options: array;
  ${path}.tier_variations[].options[]: string`;

const searchItems = `collected_at: integer; success: boolean; url: string; total_items: integer; items: array;
  ${listedItem('items[]')}`;

const shopItem = (path: string) => `${path}.itemid: integer; ${path}.shopid: integer; ${path}.name: string?;
  ${path}.label_ids: array; ${path}.label_ids[]: integer; ${path}.image: string?; ${path}.images: array;
  ${path}.images[]: string`;

const merchantItems = `collected_at: integer; success: boolean; shops: object; shops.*.page_url: string;
  shops.*.page_type: string; shops.*.page_params.shop_id: string; shops.*.items.items: array;
  ${shopItem('shops.*.items.items[]')}; shops.*.items.total_fetched: integer; shops.*.items.total_count: integer?;
  shops.*.items.pages_fetched: integer; shops.*.items.has_more: boolean; shops.*.rcmd_items.items: array;
  ${shopItem('shops.*.rcmd_items.items[]')}`;

const mktbProduct = `shop_domain: string; product_key: string; response.data.variants.basicInfo: object;
  ${[
    'id: string',
    'shopID: string',
    'alias: string',
    'createdAt: string?',
    'category: object?',
    'category.detail: array',
    'category.detail[].id: string',
    'category.detail[].name: string?',
    'category.detail[].breadcrumbURL: string?',
    'stats: object?',
    'stats.countView: any',
    'stats.countReview: any',
    'stats.countTalk: any',
    'stats.rating: number?',
    'txStats: object?',
    'txStats.transactionSuccess: any',
    'txStats.transactionReject: any',
    'txStats.countSold: any',
    'minOrder: integer?',
    'maxOrder: integer?',
    'weight: number?',
    'weightUnit: string?',
    'url: string?',
    'condition: string?',
    'status: string?',
    'isLeasing: boolean?',
    'catalogID: any',
    'menu: array',
    'menu[].name: string?',
  ]
    .map((field) => `response.data.variants.basicInfo.${field}`)
    .join('; ')}`;

const mktcProduct = `item_id: string?; formattedId: string; sku: string; pickupPointCode: string?;
  response.status: string?; response.statusCode: integer?; response.message: any; response.data.summary: object;
  ${[
    'id: string',
    'name: string?',
    'brand: string?',
    'category: string?',
    'price: object',
    'price.price: number?',
    'price.originalPrice: number?',
    'price.discountPercentage: number?',
    'price.currency: string?',
    'stock: integer?',
    'sold: integer?',
    'rating: number?',
    'totalReview: integer?',
    'merchant: object',
    'merchant.id: string?',
    'merchant.name: string?',
    'merchant.type: string?',
    'url: string?',
    'condition: string?',
    'status: string?',
  ]
    .map((field) => `response.data.summary.${field}`)
    .join('; ')};
  response.data.items: array; response.data.items[].id: string?; response.data.items[].sku: string?`;

const mktdProduct = `item_id: string; country: string; response._scraped_at: string; response._product_id: string;
  response._country: string; response.product: object; response.product.id: string; response.product.title: string;
  response.product.description: string?; response.product.category: string?; response.product.brand: string?;
  response.product.price: number?; response.product.stock: integer?; response.product.sold: integer?;
  response.product.rating: number?; response.product.totalReview: integer?; response.product.seller: object?;
  response.product.url: string?; response.product.condition: any; response.product.status: any; response.skus: array;
  response.skus[].id: string; response.skus[].name: string?`;

const mkteProduct = `item_id: string; country: string; response._scraped_at: string; response._asin: string;
  response._country: string; response.title: string; response.brand: string?; response.price: object;
  response.price.amount: number?; response.price.currency: string?; response.price.original_price: number?;
  response.availability: string?; response.rating: number?; response.review_count: integer?; response.url: string?;
  response.images: array; response.images[]: string; response.features: array; response.features[]: string;
  response.description: string?; response.specifications: array; response.specifications[].name: string;
  response.specifications[].value: string?; response.variants: array; response.variants[].asin: string;
  response.variants[].title: string?; response.variants[].price: any; response.seller: object;
  response.seller.name: string?; response.seller.id: string?`;

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
    products[].shop_id: string?; products[].shop_name: string?; products[].shop_domain: string?;
    products[].location: string?; products[].free_shipping: boolean?`,
  mktbMerchant: `shopid: string; store_name: string?; batch_id: string; products: array; total_products: integer;
    ${searched}; products[].etalase: string?; products[].stock: integer?`,
  mktcMerchant: `shopid: string; store_name: string?; batch_id: string; products: array; ${searched};
    products[].brand: string?; products[].category: string?; products[].stock: integer?; products[].merchant: object?;
    products[].merchant.id: string?; products[].merchant.name: string?; products[].merchant.type: string?`,
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
  const lines = shape
    .split(';')
    .map((line) => line.split(':').map((part) => part.trim()) as [string, string]);
  const nullable = new Set(lines.flatMap(([path, type]) => (allowsNull(type) ? [path] : [])));
  return lines.flatMap(([path, type]) =>
    valuesAt(record, '', path.split(/\.|(?=\[\])/), nullable).flatMap((value) =>
      fits(value, type) ? [] : [`${path} is ${JSON.stringify(value)?.slice(0, 60)}, not ${type}`],
    ),
  );
}

/** The values at the rest of a path; none where a part above is null and may be. */
function valuesAt(
  value: unknown,
  path: string,
  [step, ...rest]: string[],
  nullable: ReadonlySet<string>,
): unknown[] {
  if (step === undefined) return [value];
  if (value === null && nullable.has(path)) return [];
  if (typeof value !== 'object' || value === null) return [undefined];
  const below = step === '[]' || path === '' ? path + step : `${path}.${step}`;
  if (step === '[]') {
    return Array.isArray(value)
      ? value.flatMap((each) => valuesAt(each, below, rest, nullable))
      : [undefined];
  }
  const members = step === '*' ? Object.values(value) : [(value as Record<string, unknown>)[step]];
  return members.flatMap((member) => valuesAt(member, below, rest, nullable));
}

function allowsNull(type: string): boolean {
  return type.endsWith('?') || type === 'any';
}

function fits(value: unknown, type: string): boolean {
  if (value === undefined) return false;
  if (value === null) return allowsNull(type);
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
