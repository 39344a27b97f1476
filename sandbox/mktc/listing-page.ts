import { getChange } from '../changes.ts';
import { sizeOf, totalAt, windowOf } from '../pagination.ts';
import { fakeMerchant, listed, type MktcGoods, rough, rupiah } from './products.ts';

/** Maximum number of pages that the site states. */
const maxPages = 20;

function card(goods: MktcGoods, form: string) {
  if (form === '707') return { id: goods.productSku, name: goods.name };
  return {
    id: goods.productSku,
    sku: goods.productSku,
    merchantCode: goods.merchant.code,
    merchantName: goods.merchant.name,
    status: 'AVAILABLE',
    name: goods.name,
    price: {
      priceDisplay: rupiah(goods.offered),
      ...(goods.discount === 0
        ? {}
        : { strikeThroughPriceDisplay: rupiah(goods.listed), discount: goods.discount }),
      minPrice: form === '708' ? String(goods.offered) : goods.offered,
      offerPriceDisplay: rupiah(goods.offered),
      isPriceRange: false,
    },
    images: [goods.image],
    rootCategory: { id: 'RU-1000000', name: 'Rumah' },
    brand: goods.brand,
    review: { rating: Math.floor(goods.stars), count: goods.reviews, absoluteRating: goods.stars },
    itemCount: goods.items.length,
    itemSku: goods.items[0],
    formattedId: `ps--${goods.productSku}`,
    url: `/p/barang/ps--${goods.productSku}?ds=${goods.items[0]}`,
    soldRangeCount: { en: rough(goods.sold).replace('rb', 'k'), id: rough(goods.sold) },
    ...(form === '706' ? {} : { soldCountTotal: goods.sold }),
    categoryNameHierarchy: ['Rumah', 'Dapur', 'Wadah'],
    official: goods.merchant.official,
    buyable: true,
  };
}

/** Returns the filter of a listing's query, or undefined if there is none. */
function filterOf(query: URLSearchParams): ((goods: MktcGoods) => boolean) | undefined {
  const words = query.get('searchTerm')?.toLowerCase();
  const brand = query.get('brand');
  if (words === undefined && brand === null) return undefined;
  return ({ name, brand: own }) =>
    name.toLowerCase().includes(words ?? '') && own === (brand ?? own);
}

/** Returns the products of a merchant that pass a filter. */
export function filtered(
  code: string,
  rows: number,
  filter: (goods: MktcGoods) => boolean,
): MktcGoods[] {
  const size = sizeOf(code, rows);
  return Array.from({ length: size }, (_, at) => listed(code, at)).filter(filter);
}

/** Returns the `data` of a merchant's listing page, counted from 1. */
export function listingPage(code: string, query: URLSearchParams, page: number, rows: number) {
  const form = code.slice(-3);
  const start = (page - 1) * rows;
  const filter = filterOf(query);
  const left = filter ? filtered(code, rows, filter) : undefined;
  const products = left
    ? left.slice(start, start + rows)
    : windowOf(code, start, rows).map((at) => listed(code, at));
  const total = left ? left.length : totalAt(code, start, rows);
  const empty = sizeOf(code, rows) === 0;
  return {
    products: products
      .filter(({ productSku }) => !getChange('mktc', 'id', productSku).isRemoved)
      .map((goods) => card(goods, form)),
    paging: {
      page,
      total_page: Math.min(maxPages, Math.ceil(total / rows)),
      item_per_page: rows,
      total_item: form === '704' ? 1000 : total,
    },
    // Only the first page of some shops shows the shop itself.
    ...((page === 1 && form !== '709') || empty ? { merchant: fakeMerchant(code) } : {}),
    code: 'OK',
  };
}
