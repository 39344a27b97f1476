import { formatPrice, image, type MktdProduct, regions, reviewer } from './products.ts';

type Data = Record<string, unknown>;

const categories = (leaf: string) => [
  { category_id: '600001', level: 1, category_name: 'Home', is_leaf: false },
  { category_id: '600002', level: 2, category_name: 'Home Supplies', is_leaf: false },
  { category_id: '600003', level: 3, category_name: leaf, is_leaf: true },
];

function blocks(texts: readonly string[]): string {
  return JSON.stringify([
    ...texts.map((text) => ({ type: 'text', text })),
    { type: 'image', image: image('long') },
  ]);
}

function properties(product: MktdProduct) {
  const names = new Map<string, Map<string, string>>();
  for (const { values } of product.skus) {
    for (const { property, value, id } of values)
      names.set(property, (names.get(property) ?? new Map()).set(value, id));
  }
  return [...names];
}

function range(product: MktdProduct) {
  const sorted = [...product.skus].sort((one, other) => Number(one.price) - Number(other.price));
  return { least: sorted[0]!, most: sorted.at(-1)! };
}

/** Returns the older generation's `product_info`; with `flat`, without a `product_base`. */
export function baseInfo(product: MktdProduct, flat = false): Data {
  const { currency, symbol, brand } = regions[product.region]!;
  const { least, most } = range(product);
  const base = {
    title: product.title,
    desc_detail: blocks(product.texts),
    images: [image(`${product.id}-1`), image(`${product.id}-2`)],
    specifications: [
      { name: 'Material', value: 'Bamboo' },
      ...(product.brand === null ? [] : [{ name: brand, value: product.brand }]),
    ],
    sold_count: product.sold,
    price: {
      real_price: `${formatPrice(product.region, least.price)} - ${formatPrice(product.region, most.price)}`,
      original_price: '',
      discount: '-20%',
      min_sku_price: least.price,
      max_sku_price: most.price,
      min_sku_original_price: least.original,
      currency,
      currency_symbol: symbol,
    },
  };
  return {
    product_id: product.id,
    status: 1,
    seller: { seller_id: product.sellerId, name: product.shop, product_count: 12 },
    ...(flat ? base : { product_base: base }),
    sale_props: properties(product).map(([name, values], at) => ({
      prop_id: `10${at}`,
      prop_name: name,
      has_image: at === 0,
      sale_prop_values: [...values].map(([value, id]) => ({
        prop_value_id: id,
        prop_value: value,
        ...(at === 0 ? { image: image(id) } : {}),
      })),
    })),
    skus: product.skus.map((sku) => ({
      sku_id: sku.id,
      sale_prop_value_ids: sku.values.map(({ id }) => id).join('_'),
      ...(flat
        ? {}
        : {
            sku_sale_props: sku.values.map(({ property, value, id }) => ({
              prop_name: property,
              prop_value: value,
              prop_value_id: id,
            })),
          }),
      stock: sku.stock,
      status: 1,
      price: flat
        ? {
            sale_price_decimal: sku.price,
            origin_price_decimal: sku.original,
            currency_name: currency,
          }
        : {
            real_price: {
              price_str: formatPrice(product.region, sku.price),
              price_val: sku.price,
              currency,
            },
            original_price: formatPrice(product.region, sku.original),
            original_price_value: sku.original,
          },
    })),
    [flat ? 'review' : 'product_detail_review']: {
      product_rating: product.rating,
      review_count: flat ? String(product.reviews) : product.reviews,
      review_items: [{ review: { rating: 5, display_text: 'Good' }, review_user: reviewer }],
    },
    shipping: {
      shipping_to_address_info: { ship_to_address_brief: 'Visitor Street 1' },
      logistics: [],
    },
  };
}

/** Returns the newer generation's `product_info`. */
export function modelInfo(product: MktdProduct): Data {
  const { currency, symbol, brand } = regions[product.region]!;
  const { least, most } = range(product);
  const price = (sku: MktdProduct['skus'][number]) => ({
    sku_id: sku.id,
    currency_name: currency,
    currency_symbol: symbol,
    sale_price_decimal: sku.price,
    origin_price_decimal: sku.original,
    sale_price_format: formatPrice(product.region, sku.price).slice(symbol.length),
    discount_format: '20%',
  });
  return {
    product_model: {
      product_id: product.id,
      name: product.title,
      description: blocks(product.texts),
      images: [image(`${product.id}-1`), image(`${product.id}-2`)],
      sold_count: String(product.sold),
      seller_id: product.sellerId,
      sale_properties: properties(product).map(([name, values], at) => ({
        property_name: name,
        has_image: at === 0,
        property_values: [...values].map(([value, id]) => ({
          property_value_id: id,
          property_value_name: value,
          ...(at === 0 ? { image: image(id) } : {}),
        })),
      })),
      product_properties: [
        {
          property_name: 'Material',
          property_values: [{ property_value_name: 'Bamboo' }, { property_value_name: 'Steel' }],
        },
        ...(product.brand === null
          ? []
          : [{ property_name: brand, property_values: [{ property_value_name: product.brand }] }]),
      ],
      skus: product.skus.map((sku) => ({
        sku_id: sku.id,
        sku_name: `code-${sku.id}`,
        sku_status: 1,
        property_pairs: sku.values.map(({ property, value }) => ({
          sku_property_name: property,
          sku_property_value_name: value,
        })),
        sku_quantity: { available_quantity: sku.stock },
      })),
    },
    promotion_model: {
      promotion_product_price: {
        min_price: price(least),
        range_price: { range_price: `${least.price} - ${most.price}`, currency_name: currency },
        skus_price: Object.fromEntries(product.skus.map((sku) => [sku.id, price(sku)])),
      },
    },
    seller_model: { shop_name: product.shop, shop_logo: image('logo') },
    review_model: {
      product_overall_score: product.rating,
      product_review_count: String(product.reviews),
    },
  };
}

/** Wraps a `product_info` in the data of the product's route. */
export function route(region: string, id: string, info: Data | undefined, more: Data = {}): Data {
  const feed = {
    component_type: 'feed_list',
    component_name: 'feed_list_similar',
    component_data: { products: [{ product_id: '1' }] },
  };
  const data = {
    categories: categories('Lamps & Trays'),
    sale_region: region.toUpperCase(),
    error_code: 0,
    error_message: '',
    shop_info: { shop_name: 'shop', shop_rating: '4.6', followers_count: 12 },
    review_info: {
      product_reviews: [{ reviewer_name: reviewer.name, review_rating: 5 }],
      review_ratings: {},
    },
    ...(info ? { product_info: info } : {}),
    ...more,
  };
  return {
    basic_info: { lang: 'en', web_id: '0' },
    bot_info: { is_bot: false },
    region_info: { path_region: region.toUpperCase() },
    route_info: {
      request_url: `https://shop.example.test/pdp/a-slug/${id}?source=feed`,
      route_product_id: id,
    },
    page_config: {
      components_map: [
        { component_type: 'page_header', component_name: 'page_header' },
        feed,
        { component_type: 'product_info', component_name: 'product_info', component_data: data },
      ],
    },
  };
}

/** Returns the HTML page with a route's data embedded as on the site. */
export function html(title: string, data: Data | null, key: string): string {
  const router = JSON.stringify({
    loaderData: { layout: null, 'other/page': null, [key]: data },
    errors: null,
  });
  return `<!DOCTYPE html><html dir="ltr"><head><title>${title} - Shop</title><script id="config" type="application/json">{"sdk":"captcha"}</script></head>
<body><div id="root"></div><script type="application/json" id="__MODERN_ROUTER_DATA__">${router.replaceAll('<', '\\u003c')}</script></body></html>`;
}
