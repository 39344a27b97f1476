import type { JsonObject } from '../../base/json.ts';
import { integer, number, object, objects, positive, rupiah, text } from '../fields.ts';
import type { ListedFields, TrackedPages } from '../market.ts';
import { cheapest, lowestPrice, trackedItem, valueAt } from '../tracked.ts';

const productFields = `data.variants.basicInfo.id: string; data.variants.basicInfo.shopID: string?;
  data.variants.basicInfo.alias: string?; data.variants.basicInfo.createdAt: string?;
  data.variants.basicInfo.category.detail: array; data.variants.basicInfo.category.detail[].id: string?;
  data.variants.basicInfo.category.detail[].name: string;
  data.variants.basicInfo.category.detail[].breadcrumbURL: string?;
  data.variants.basicInfo.stats.countView: string?; data.variants.basicInfo.stats.countReview: string?;
  data.variants.basicInfo.stats.countTalk: string?; data.variants.basicInfo.stats.rating: number?;
  data.variants.basicInfo.txStats.transactionSuccess: string?;
  data.variants.basicInfo.txStats.transactionReject: string?; data.variants.basicInfo.txStats.countSold: string?;
  data.variants.basicInfo.minOrder: integer?; data.variants.basicInfo.maxOrder: integer?;
  data.variants.basicInfo.weight: integer?; data.variants.basicInfo.weightUnit: string?;
  data.variants.basicInfo.url: string?; data.variants.basicInfo.condition: string?;
  data.variants.basicInfo.status: string?; data.variants.basicInfo.isLeasing: boolean?;
  data.variants.basicInfo.catalogID: string?; data.variants.basicInfo.menu: array;
  data.variants.basicInfo.menu[].name: string; data.variants.components: array`;

const entryFields = `id: string; name: string?; price: number?; original_price: number?; discount_percentage: number?;
  rating: number?; review_count: integer?; sold_count: integer?; url: string?; image_url: string?; condition: string?`;

/** Fields that every record of each page has (docs/pages.md), in the notation of parseFields(). */
export const listedFields: ListedFields = {
  product: productFields,
  search: `${entryFields}; shop_id: string?; shop_name: string?; shop_domain: string?; location: string?;
    free_shipping: boolean?`,
  merchant: `${entryFields}; etalase: string?; stock: integer?`,
};

/** Returns the first data object of the page's component with this name. */
function component(record: JsonObject, name: string): JsonObject {
  const components = objects(valueAt(record, 'data.variants.components'));
  return object(objects(components.find((each) => each.name === name)?.data)[0]);
}

function product(record: JsonObject) {
  const info = object(valueAt(record, 'data.variants.basicInfo'));
  const content = component(record, 'product_content');
  const children = objects(component(record, 'new_variant_options').children).map((child) => ({
    id: text(child.productID),
    name: text(valueAt(child, 'optionName.0')),
    price: number(child.price),
    stock: integer(valueAt(child, 'stock.stock')),
  }));
  const offers = objects(component(record, 'new_variant_options').children).map((child) => ({
    price: number(child.price),
    before: positive(valueAt(child, 'campaignInfo.originalPrice')),
  }));
  const media = objects(component(record, 'product_media').media);
  return trackedItem(info.id, {
    title: text(content.name),
    price:
      lowestPrice(children.map(({ price }) => price)) ?? number(valueAt(content, 'price.value')),
    currency: text(valueAt(content, 'price.currency')),
    stock: integer(valueAt(content, 'stock.value')),
    sold: integer(valueAt(info, 'txStats.countSold')),
    rating: number(valueAt(info, 'stats.rating')),
    variants: children,
    listPrice:
      offers.length > 0
        ? (cheapest(offers)?.before ?? null)
        : (rupiah(valueAt(content, 'price.slashPriceFmt')) ??
          positive(valueAt(content, 'campaign.originalPrice'))),
    reviews: integer(valueAt(info, 'stats.countReview')),
    seller: text(info.shopName),
    image: text(media.find(({ type }) => type === 'image')?.urlOriginal),
  });
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
