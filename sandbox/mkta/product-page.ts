import { type FakeItem, fakeItem, forms, scaled } from './item.ts';
import { regions } from './regions.ts';

/**
 * Parts of a product page that do not depend on the item, as JSON text by region. They are built
 * once.
 */
const fixedParts = new Map(
  Object.entries(regions).map(([region, { places, currency }]) => {
    const unused = { single_value: -1, range_min: -1, range_max: -1, price_mask: null };
    const channel = (id: number, name: string) => ({
      channel_id: id,
      name,
      price: { ...unused, range_min: 0, range_max: 150_000_000 },
      price_before_discount: { ...unused, single_value: 200_000_000 },
      channel_delivery_info: {
        has_edt: true,
        display_mode: 'edt_by_date',
        estimated_delivery_time_min: 1 + (id % 3),
      },
      channel_promotion_infos: [
        { rule_id: 7_000_000 + id, type: 0, cap: 90_000_000, min_spend: unused },
      ],
      warning: null,
    });
    const parts = {
      flash_sale: null,
      deep_discount: null,
      exclusive_price: null,
      product_meta: {
        show_best_price_guarantee: false,
        hide_sharing_button: false,
        hide_sold_count: false,
      },
      promotion_info: { spl: null, installment: null, wholesale: null, insurance: null },
      age_gate: { kyc: null },
      shipping_meta: { show_cod: true, show_mart: false, show_next_day_delivery: false },
      product_shipping: {
        free_shipping: { min_spend: null, has_fss: true },
        shipping_fee_info: { ship_from_location: places[0], price: unused, warning: null },
        ungrouped_channel_infos: [
          channel(11, 'Kite Express'),
          channel(12, 'Snail Post'),
          channel(13, 'River Boat'),
        ],
        pre_selected_shipping_channel: channel(11, 'Kite Express'),
        default_address: { state: places[0], city: places[0], zip_code: '00000' },
      },
      shop_vouchers: [
        {
          promotionid: 77,
          voucher_code: `${currency}-WELCOME`,
          min_spend: 2_000_000_000,
          discount_percentage: 5,
        },
      ],
      coin_info: { spend_cash_unit: 100_000, coin_earn_items: [] },
      design_control: {
        display_on_time_delivery_guarantee: true,
        disable_price_with_variation: false,
      },
      detail_level: 0,
      service_drawer: {
        services: [
          { title: 'Return within 15 days', description: 'If you change your mind.', type: 8 },
        ],
      },
      product_description: null,
    };
    return [region, JSON.stringify(parts).slice(1, -1)];
  }),
);

function modelOf(item: FakeItem, at: number, hidden: boolean, mask: boolean) {
  const model = item.models[at]!;
  return {
    item_id: item.id,
    status: 1,
    current_promotion_reserved_stock: hidden ? null : 0,
    name: model.name,
    promotion_id: 0,
    price: hidden || mask ? null : scaled(model.price),
    price_stocks: [
      {
        allocated_stock: hidden ? null : 0,
        stock_breakdown_by_location: [
          {
            location_id: 'X1',
            available_stock: hidden ? null : model.stock,
            fulfilment_type: 2,
            address_id: 0,
          },
        ],
        promotion_type: 0,
      },
    ],
    normal_stock: hidden ? null : model.stock,
    extinfo: { tier_index: model.tierIndex, is_pre_order: false, estimated_days: 2 },
    price_before_discount: hidden || mask ? null : scaled(model.before),
    model_id: model.id,
    stock: hidden ? Math.min(model.stock, 10) : model.stock,
    sold: hidden ? null : model.sold,
    is_clickable: true,
    is_grayout: model.stock === 0,
  };
}

function itemPart(item: FakeItem, hidden: boolean, form: string) {
  const mask = form === forms.masked;
  const prices = item.models.map(({ price }) => price);
  const befores = item.models.map(({ before }) => before);
  const price = (value: number) => (hidden || mask ? null : scaled(value));
  return {
    item_id: item.id,
    shop_id: item.shopId,
    item_status: item.soldOut ? 'sold_out' : 'normal',
    status: 1,
    item_type: 0,
    reference_item_id: '',
    title: item.title,
    image: item.images[0],
    label_ids: item.labels,
    is_adult: false,
    flag: 196_608,
    condition: 1,
    cat_id: 900_100,
    currency: item.currency,
    brand: item.brand,
    brand_id: item.brandId,
    show_discount: item.discount,
    ctime: item.created,
    item_rating: {
      rating_star: item.stars,
      rating_count: item.ratings,
      total_rating_count: item.ratings[0],
    },
    cb_option: item.crossBorder ? 1 : 0,
    shop_location: item.place,
    attributes: [
      { name: 'Material', value: 'Bamboo', id: 501, val_id: 11, brand_id: null },
      { name: 'Brand', value: item.brand ?? '-', id: 502, val_id: 12, brand_id: item.brandId },
    ],
    description: item.description,
    categories: [
      { catid: 900_100, display_name: 'Home', no_sub: false },
      { catid: 900_110, display_name: 'Storage', no_sub: true },
    ],
    fe_categories: [{ catid: 990_100, display_name: 'Home', no_sub: true }],
    models: item.models.map((_, at) => modelOf(item, at, hidden, mask)),
    tier_variations: item.tiers.map(({ name, options }) => ({
      name,
      options,
      images: null,
      type: 0,
    })),
    is_hide_stock: form === forms.hiddenStock,
    stock: hidden ? Math.min(item.stock, 10) : item.stock,
    normal_stock: hidden ? null : item.stock,
    price: price(Math.min(...prices)),
    raw_discount: item.discount,
    hidden_price_display: null,
    price_min: price(Math.min(...prices)),
    price_max: price(Math.max(...prices)),
    price_before_discount: price(Math.min(...befores)),
    price_min_before_discount: item.discount === 0 ? -1 : price(Math.min(...befores)),
    price_max_before_discount: item.discount === 0 ? -1 : price(Math.max(...befores)),
  };
}

function priceView(item: FakeItem, hidden: boolean, form: string) {
  if (hidden) return null;
  const prices = item.models.map(({ price }) => scaled(price));
  const [least, most] = [Math.min(...prices), Math.max(...prices)];
  if (form === forms.masked)
    return { single_value: -1, range_min: -1, range_max: -1, price_mask: '?.?00' };
  if (least === most)
    return { single_value: least, range_min: -1, range_max: -1, price_mask: null };
  return { single_value: -1, range_min: least, range_max: most, price_mask: null };
}

function reviewPart(item: FakeItem, hidden: boolean, form: string) {
  const hasText = form === forms.soldText;
  const soldCount = hasText ? 0 : item.historicalSold;
  return {
    rating_star: item.stars,
    rating_count: item.ratings,
    total_rating_count: item.ratings[0],
    historical_sold: hidden ? null : soldCount,
    ...(hasText ? { historical_sold_text: regions[item.region]!.sold(item.historicalSold) } : {}),
    global_sold: hidden ? null : item.historicalSold,
    liked: false,
    liked_count: item.liked,
    cmt_count: item.ratings[0],
  };
}

function shopPart(item: FakeItem) {
  return {
    shopid: item.shopId,
    userid: item.shopId + 7,
    place: item.place,
    account: { portrait: 'none', username: `shop.${item.shopId}`, status: 1 },
    is_official_shop: item.official,
    name: `Warung ${item.shopId}`,
    rating_star: 4.8,
    item_count: 40,
  };
}

/** Returns the response of an older generation: the item as `data`, with its older names. */
function flat(item: FakeItem): string {
  const { item_id, shop_id, title, ...rest } = itemPart(item, false, forms.flat);
  const review = reviewPart(item, false, forms.flat);
  const data = {
    itemid: item_id,
    shopid: shop_id,
    name: title,
    ...rest,
    images: item.images,
    ...review,
  };
  return JSON.stringify({ error: null, error_msg: null, data });
}

/** Returns the get_pc response for an item, about 8 KB. */
export function productPage(region: string, id: number, shopId: number): string {
  const item = fakeItem(region, id, shopId);
  const form = String(id).slice(-3);
  if (form === forms.flat) return flat(item);
  const hidden = form === forms.loggedOut || id % 23 === 0;
  const account = hidden
    ? { user_id: null, default_address: { state: item.place } }
    : { user_id: 4711, birth_timestamp: 1 };
  if (form === forms.sparse) {
    const { item_id, shop_id, item_status, currency, models } = itemPart(item, false, form);
    const bare = models.map(({ extinfo: _, ...model }) => model);
    const data = {
      item: { item_id, shop_id, item_status, currency, models: bare },
      account,
      product_review: null,
    };
    return JSON.stringify({ bff_meta: null, error: 0, error_msg: null, data });
  }
  const parts = {
    item: itemPart(item, hidden, form),
    account,
    product_images: { video: null, images: item.images, first_tier_variations: [] },
    product_price: {
      discount: item.discount === 0 || hidden ? null : item.discount,
      hide_price: false,
      price: priceView(item, hidden, form),
      discount_text: null,
      show_final_price_indicator: hidden ? false : null,
      has_final_price: true,
    },
    product_review: reviewPart(item, hidden, form),
    product_attributes: {
      attrs: [{ name: 'Stock', value: String(item.stock), type: 7 }],
      categories: [],
    },
    shop_detailed: shopPart(item),
    removed_fields: hidden ? ['product_price.price'] : null,
  };
  const data = `${JSON.stringify(parts).slice(0, -1)},${fixedParts.get(region)}}`;
  return `{"bff_meta":null,"error":null,"error_msg":null,"data":${data}}`;
}
