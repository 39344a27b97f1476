import { getChange } from '../changes.ts';
import { type FakeItem, scaled } from './item.ts';
import { regions } from './regions.ts';

/** Generation of a listing's products: 1 flat, 2 `item_basic`, 3 item cards. */
export type Generation = 1 | 2 | 3;

function prices(item: FakeItem) {
  const all = item.models.map(({ price }) => scaled(price));
  const before = scaled(item.models[0]!.before);
  return { least: Math.min(...all), most: Math.max(...all), before };
}

function basic(item: FakeItem) {
  const { least, most, before } = prices(item);
  return {
    itemid: item.id,
    shopid: item.shopId,
    name: item.title,
    label_ids: item.labels,
    image: item.images[0],
    images: item.images,
    currency: item.currency,
    stock: item.stock,
    status: 1,
    ctime: item.created,
    sold: item.sold,
    historical_sold: item.historicalSold,
    liked: false,
    liked_count: item.liked,
    catid: 900_100,
    brand: item.brand ?? '',
    cmt_count: item.ratings[0],
    flag: 196_608,
    cb_option: item.crossBorder ? 1 : 0,
    item_status: item.soldOut ? 'sold_out' : 'normal',
    price: least,
    price_min: least,
    price_max: most,
    price_before_discount: before,
    price_min_before_discount: before === 0 ? -1 : before,
    raw_discount: item.discount,
    tier_variations: item.tiers.map(({ name, options }) => ({ name, options, type: 0 })),
    item_rating: { rating_star: item.stars, rating_count: item.ratings },
    is_official_shop: item.official,
    shop_location: item.place,
  };
}

function itemCard(item: FakeItem) {
  const { least, before } = prices(item);
  const text = regions[item.region]!.sold(item.historicalSold);
  return {
    itemid: item.id,
    shopid: item.shopId,
    item_card_display_price: {
      item_id: item.id,
      model_id: item.models[0]!.id,
      price: least,
      strikethrough_price: before,
      original_price: before,
      discount: item.discount,
    },
    item_card_display_sold_count: {
      historical_sold_count: 0,
      monthly_sold_count: 0,
      historical_sold_count_text: text,
      monthly_sold_count_text: null,
    },
    is_sold_out: item.soldOut,
    label_ids: item.labels,
    catid: 900_100,
    liked_count: item.liked,
    shop_data: { shop_name: `Warung ${item.shopId}`, shop_location: item.place },
    status: 1,
    ctime: item.created,
    item_status: item.soldOut ? 'sold_out' : 'normal',
    item_rating: { rating_star: item.stars, rating_count: item.ratings },
    tier_variations: item.tiers,
    item_card_displayed_asset: {
      name: item.title,
      image: item.images[0],
      images: item.images,
      sold_count: { text },
      display_price: { price: least },
    },
  };
}

/** Returns the items that are not removed. */
export const listedItems = (items: readonly FakeItem[]): FakeItem[] =>
  items.filter(({ region, id }) => !getChange('mkta', region, id).isRemoved);

/**
 * Returns the members of a response that contain a list of products, in the form of a generation.
 * Generation 3 has cards in `items[].item_data` for searches and in `centralize_item_card` for
 * shops.
 */
export function listMembers(
  all: readonly FakeItem[],
  generation: Generation,
  shop: boolean,
): object {
  const items = listedItems(all);
  if (generation === 1) return { items: items.map(basic) };
  if (generation === 2) {
    const wrapped = items.map((item) => ({
      itemid: item.id,
      shopid: item.shopId,
      item_basic: basic(item),
      adsid: null,
    }));
    return { items: wrapped };
  }
  const cards = items.map(itemCard);
  if (shop) return { items: null, centralize_item_card: { item_cards: cards } };
  return {
    items: cards.map(({ item_card_displayed_asset, ...item_data }) => ({
      item_basic: null,
      item_data,
      item_card_displayed_asset,
      tracking_info: { position: 1 },
    })),
  };
}
