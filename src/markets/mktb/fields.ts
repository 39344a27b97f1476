import type { Json, JsonObject } from '../../base/json.ts';
import { prefixFields, type RecordFields } from '../../quality/record-schema.ts';
import {
  count,
  integer,
  number,
  object,
  objects,
  positive,
  rupiah,
  text,
  texts,
} from '../fields.ts';
import type { ListedFields, TrackedPages } from '../market.ts';
import { cheapest, lowestPrice, totalStock, trackedItem, valueAt, withDoubt } from '../tracked.ts';

/** Fields of `basicInfo`. */
const basicInfoFields: RecordFields = {
  id: 'string',
  shopID: 'string?',
  alias: 'string?',
  createdAt: 'string?',
  'category.detail': 'array',
  'category.detail[].id': 'string?',
  'category.detail[].name': 'string',
  'category.detail[].breadcrumbURL': 'string?',
  'stats.countView': 'string?',
  'stats.countReview': 'string?',
  'stats.countTalk': 'string?',
  'stats.rating': 'number?',
  'txStats.transactionSuccess': 'string?',
  'txStats.transactionReject': 'string?',
  'txStats.countSold': 'string?',
  minOrder: 'integer?',
  maxOrder: 'integer?',
  weight: 'integer?',
  weightUnit: 'string?',
  url: 'string?',
  condition: 'string?',
  status: 'string?',
  isLeasing: 'boolean?',
  catalogID: 'string?',
  menu: 'array',
  'menu[].name': 'string',
};

const entryFields: RecordFields = {
  id: 'string',
  name: 'string?',
  price: 'number?',
  original_price: 'number?',
  discount_percentage: 'number?',
  rating: 'number?',
  review_count: 'integer?',
  sold_count: 'integer?',
  url: 'string?',
  image_url: 'string?',
  condition: 'string?',
};

/** Fields that every record of each page has (docs/pages.md). */
export const listedFields: ListedFields = {
  product: {
    ...prefixFields('data.variants.basicInfo', basicInfoFields),
    'data.variants.components': 'array',
  },
  search: {
    ...entryFields,
    shop_id: 'string?',
    shop_name: 'string?',
    shop_domain: 'string?',
    location: 'string?',
    free_shipping: 'boolean?',
  },
  merchant: {
    ...entryFields,
    etalase: 'string?',
    stock: 'integer?',
  },
};

const componentsOf = (record: JsonObject): JsonObject[] =>
  objects(valueAt(record, 'data.variants.components'));

/** Returns the first data object of the page's component with this name. */
function component(record: JsonObject, name: string): JsonObject {
  return object(objects(componentsOf(record).find((each) => each.name === name)?.data)[0]);
}

/**
 * Returns the variants. The name of their component depends on the generation and the device:
 * `variant_options`, `new_variant_options`, `mini_variant_options`.
 */
function variantsOf(record: JsonObject): JsonObject[] {
  const parts = componentsOf(record).filter(({ name }) => text(name)?.endsWith('variant_options'));
  const lists = parts.flatMap(({ data }) => objects(data)).map(({ children }) => objects(children));
  return lists.find(({ length }) => length > 0) ?? [];
}

/**
 * Returns the price that everyone pays. In older generations, a page in a campaign states the price
 * without it, and the lower one only in the campaign.
 */
function priceOf(value: Json | undefined, campaign: Json | undefined): number | null {
  const price = rupiah(value);
  const { isActive, isAppsOnly, discountedPrice, discountPrice } = object(campaign);
  const lower = positive(discountedPrice) ?? positive(discountPrice);
  const isLowered = isActive === true && isAppsOnly !== true && lower !== null;
  return isLowered && price !== null && lower < price ? lower : price;
}

/** Returns the pieces of all variants, and whether one can be bought. */
function stockOf(options: readonly JsonObject[], { stock, variant }: JsonObject) {
  // The page states the stock of the selected variant as that of the product.
  if (options.length === 0) {
    const own = object(stock);
    const isUnknown = own.useStock === false || object(variant).isVariant === true;
    return { stock: isUnknown ? null : integer(own.value), available: null };
  }
  const stocks = options.map((option) => integer(valueAt(option, 'stock.stock')));
  const states = options.map((option) => valueAt(option, 'stock.isBuyable'));
  const isStated = states.every((state) => typeof state === 'boolean');
  return { stock: totalStock(stocks), available: isStated ? states.includes(true) : null };
}

/** Returns the pieces sold. Null if the text that the page shows is about more of them. */
function soldOf({ countSold, itemSoldFmt }: JsonObject): number | null {
  const sold = integer(countSold);
  return sold !== null && sold < (count(itemSoldFmt) ?? 0) ? null : sold;
}

/** Returns the brand among the details that the page shows. */
function brandOf(record: JsonObject): string | null {
  const details = objects(component(record, 'product_detail').content);
  return text(details.find(({ title }) => title === 'Merek')?.subtitle);
}

function product(record: JsonObject) {
  const info = object(valueAt(record, 'data.variants.basicInfo'));
  const content = component(record, 'product_content');
  const options = variantsOf(record);
  const children = options.map((child) => ({
    id: text(child.productID),
    name: text(texts(child.optionName).join(', ')),
    price: priceOf(child.price, child.campaignInfo),
    stock: integer(valueAt(child, 'stock.stock')),
  }));
  const offers = options.map((child) => ({
    price: priceOf(child.price, child.campaignInfo),
    before: rupiah(child.slashPriceFmt) ?? positive(valueAt(child, 'campaignInfo.originalPrice')),
  }));
  const media = objects(component(record, 'product_media').media);
  const item = trackedItem(info.id, {
    title: text(content.name),
    price:
      lowestPrice(children.map(({ price }) => price)) ??
      priceOf(valueAt(content, 'price.value'), content.campaign),
    currency: text(valueAt(content, 'price.currency')),
    ...stockOf(options, content),
    sold: soldOf(object(info.txStats)),
    rating: number(valueAt(info, 'stats.rating')),
    variants: children,
    brand: brandOf(record),
    listPrice:
      offers.length > 0
        ? (cheapest(offers)?.before ?? null)
        : (rupiah(valueAt(content, 'price.slashPriceFmt')) ??
          positive(valueAt(content, 'campaign.originalPrice'))),
    reviews: integer(valueAt(info, 'stats.countReview')),
    seller: text(info.shopName),
    image: text(media.find(({ type }) => type === 'image')?.urlOriginal),
  });
  // Products that are not sold any more keep their stock.
  return withDoubt(item, !/^active$/i.test(text(info.status) ?? 'active'));
}

const entry = (record: JsonObject) =>
  trackedItem(record.id, {
    title: text(record.name),
    price: number(record.price),
    currency: 'IDR',
    stock: integer(record.stock),
    available: isAvailable(record),
    sold: integer(record.sold_count),
    rating: number(record.rating),
    listPrice: number(record.original_price),
    reviews: integer(record.review_count),
    seller: text(record.shop_name),
  });

/** Returns true if a shop's entry can be bought. Null for searches, which do not state it. */
function isAvailable(record: JsonObject): boolean | null {
  const isSold = valueAt(record, 'flags.isSold');
  return typeof isSold === 'boolean' ? !isSold : null;
}

export const tracked: TrackedPages = { product, search: entry, merchant: entry };
