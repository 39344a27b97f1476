import { shiftOf, sizeOf, totalAt, windowOf } from '../pagination.ts';
import { hash } from '../random.ts';
import {
  available,
  fakeProduct,
  fakeShop,
  type MktbGoods,
  rupiah,
  soldLabels,
} from './products.ts';

/** Returns a product of a listing. */
export function listed(name: string, at: number): MktbGoods {
  return fakeProduct(`${name} ${at}`);
}

const ratingText = ({ stars }: MktbGoods): string => (stars === 0 ? '' : stars.toFixed(1));

function current(goods: MktbGoods, form: string) {
  if (form === '707')
    return { id: goods.id, name: goods.name, price: null, shop: null, labelGroups: null };
  const odd = form === '708';
  return {
    oldID: Number(goods.id),
    id: goods.id,
    name: goods.name,
    url: `https://www.tokopedia.com/${goods.shop.domain}/${goods.key}?extParam=src%3Dsearch`,
    mediaURL: { image: goods.image, image300: goods.image.replace('/700/', '/300/') },
    shop: {
      oldID: Number(goods.shop.id),
      id: goods.shop.id,
      name: goods.shop.name,
      url: `https://www.tokopedia.com/${goods.shop.domain}`,
      city: goods.shop.city,
      tier: 1,
    },
    price: {
      text: rupiah(goods.price),
      number: odd ? String(goods.price) : goods.price,
      range: '',
      original: rupiah(goods.before),
      discountPercentage: odd ? `${goods.discount}%` : goods.discount,
    },
    freeShipping: { url: goods.freeShipping ? 'https://images.tokopedia.net/fake/free.png' : '' },
    labelGroups: soldLabels(goods.sold),
    rating: ratingText(goods),
    wishlist: false,
    ads: { id: '', productClickURL: '' },
    meta: { parentID: '0', warehouseID: '1' },
  };
}

function older(goods: MktbGoods) {
  return {
    id: Number(goods.id),
    name: goods.name,
    url: `https://www.tokopedia.com/${goods.shop.domain}/${goods.key}`,
    imageUrl: goods.image,
    price: rupiah(goods.price),
    originalPrice: rupiah(goods.before),
    discountPercentage: goods.discount,
    countReview: goods.reviews,
    rating: Math.round(goods.stars),
    ratingAverage: ratingText(goods),
    labelGroups: soldLabels(goods.sold),
    shop: {
      shopId: Number(goods.shop.id),
      name: goods.shop.name,
      city: goods.shop.city,
      isOfficial: false,
    },
    freeOngkir: { isActive: goods.freeShipping },
  };
}

/**
 * Returns the response to a search: the current generation, or the older one for names that end in
 * 706.
 */
export function searchResponse(name: string, start: number, rows: number): Record<string, unknown> {
  const form = name.slice(-3);
  const goods = available(windowOf(name, start, rows).map((at) => listed(name, at)));
  const header = {
    totalData: totalAt(name, start, rows),
    responseCode: 0,
    keywordProcess: '0',
    additionalParams: `&search_id=fake-${hash(name)}&next_offset_organic=${start + rows}`,
  };
  if (form === '817') {
    const refusal = {
      ...header,
      totalData: 0,
      responseCode: '4',
      errorMessage: 'kata kunci tidak diizinkan',
    };
    return { searchProductV5: { header: refusal, data: { products: [] } } };
  }
  if (form === '706') {
    const products = goods.map(older);
    return {
      ace_search_product_v4: {
        header: { ...header, responseCode: '0', errorMessage: '' },
        data: { products },
      },
    };
  }
  const products = goods.map((one) => current(one, form));
  return { searchProductV5: { header, data: { totalDataText: `${header.totalData}`, products } } };
}

/** Returns the response to a category. `start` counts from 1. */
export function categoryResponse(
  name: string,
  start: number,
  rows: number,
): Record<string, unknown> {
  const data = available(windowOf(name, start - 1, rows).map((at) => listed(name, at))).map(
    (goods) => ({
      id: Number(goods.id),
      url: `https://www.tokopedia.com/${goods.shop.domain}/${goods.key}`,
      imageUrl: goods.image,
      countReview: goods.reviews,
      discountPercentage: goods.discount,
      name: goods.name,
      price: rupiah(goods.price),
      original_price: rupiah(goods.before),
      rating: Math.round(goods.stars),
      shop: {
        id: Number(goods.shop.id),
        url: `https://www.tokopedia.com/${goods.shop.domain}`,
        name: goods.shop.name,
        location: goods.shop.city,
      },
      labelGroups: soldLabels(goods.sold),
    }),
  );
  return { CategoryProducts: { count: data.length, data } };
}

/** Returns a product of a shop. */
export function shopGoods(shopId: string, etalase: string, at: number): MktbGoods {
  return fakeProduct(`shop ${shopId} ${etalase} ${at}`, fakeShop(shopId));
}

/** Returns the number of products of a shop or of one of its sections. */
export function shopSize(shopId: string, etalase: string, perPage: number): number {
  const all = sizeOf(shopId, perPage);
  return etalase === 'etalase' ? all : Math.ceil(all / 4);
}

/** Returns the products of a shop whose names contain a keyword. */
export function shopMatches(
  shopId: string,
  etalase: string,
  keyword: string,
  perPage: number,
): MktbGoods[] {
  const size = shopSize(shopId, etalase, perPage);
  const all = Array.from({ length: size }, (_, at) => shopGoods(shopId, etalase, at));
  return all.filter(({ name }) => name.toLowerCase().includes(keyword.toLowerCase()));
}

/** Returns a page of a shop's products. `page` counts from 1. */
export function shopResponse(
  shopId: string,
  etalase: string,
  keyword: string,
  page: number,
  perPage: number,
): Record<string, unknown> {
  const start = (page - 1) * perPage;
  const matches = keyword === '' ? undefined : shopMatches(shopId, etalase, keyword, perPage);
  const size = matches ? matches.length : shopSize(shopId, etalase, perPage);
  const goods = matches
    ? matches.slice(start, start + perPage)
    : windowOf(shopId, start, perPage)
        .filter((at) => at < size)
        .map((at) => shopGoods(shopId, etalase, at));
  const last = shopId.endsWith('704')
    ? false
    : start + perPage >= size + shiftOf(shopId, start, perPage);
  return {
    GetShopProduct: {
      status: 'OK',
      errors: shopId.endsWith('817') ? 'shop is on holiday' : null,
      links: {
        prev: page > 1 ? `/product/page/${page - 1}` : '',
        next: last ? '' : `/product/page/${page + 1}`,
      },
      data: shopId.endsWith('817')
        ? null
        : available(goods).map((one) => ({
            name: one.name,
            product_url: `https://www.tokopedia.com/${one.shop.domain}/${one.key}`,
            product_id: one.id,
            price: { text_idr: rupiah(one.price) },
            primary_image: { original: one.image, thumbnail: one.image, resize300: one.image },
            flags: {
              isSold: one.stock === 0,
              isPreorder: false,
              isWholesale: false,
              isWishlist: false,
            },
            campaign: {
              discounted_percentage: one.discount,
              original_price_fmt: rupiah(one.before),
            },
            label_groups: soldLabels(one.sold),
            stats: {
              reviewCount: one.reviews,
              rating: Math.round(one.stars),
              averageRating: one.stars.toFixed(1),
            },
            category: { id: 903 },
          })),
    },
  };
}
