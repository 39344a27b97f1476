import { fakeProduct, type MktcGoods } from './products.ts';

function categories(prefix: string) {
  return ['Rumah', 'Dapur', 'Wadah'].map((name, at) => ({
    level: at + 1,
    id: `${prefix}-100000${at}`,
    name,
    url: `/c/${at + 1}/${name.toLowerCase()}/${prefix}-100000${at}`,
  }));
}

function optionsOf(goods: MktcGoods, selected: string) {
  return goods.items.map((item) => ({
    id: item === selected ? `is--${item}_PP-3000001` : `is--${item}`,
    selected: item === selected,
    available: goods.stock > 0,
    attributes: [{ name: 'Warna', value: item.slice(-1), label: 'Warna' }],
    pickupPointCode: item === selected ? 'PP-3000001' : '',
    tags: [],
  }));
}

function merchantOf({ merchant: { name, code, official } }: MktcGoods) {
  return {
    name,
    code,
    official,
    location: 'Kota Bandung',
    url: `/merchant/kios/${code}`,
    ...(official ? {} : { level: 'REGULAR' }),
    status: 'ACTIVE',
  };
}

/** Returns the summary's `data` of a product. `digits` select its form (README.md). */
export function summary(
  productSku: string,
  itemSku: string,
  pickupPointCode: string,
  digits: string,
) {
  const goods = fakeProduct(productSku);
  const item = goods.items.includes(itemSku) ? itemSku : goods.items[0]!;
  const url = `https://www.blibli.com/p/barang/ps--${productSku}?pickupPointCode=PP-3000001&ds=${item}`;
  if (digits === '703')
    return { itemSku: item, productSku, name: goods.name, price: null, options: null };
  const soldOut = digits === '701';
  return {
    url,
    itemSku: item,
    name: goods.name,
    productSku,
    productCode: goods.code,
    itemCode: `${goods.code}-00001`,
    pickupPointCode: pickupPointCode === '' ? 'PP-3000001' : pickupPointCode,
    ean: '',
    stock: soldOut ? 0 : goods.stock,
    uniqueSellingPoint: '• Dibuat di rumah.',
    price: {
      listed: goods.listed,
      listDiscount: goods.discount,
      offered: goods.offered,
      totalDiscount: goods.discount,
    },
    brand: { name: goods.brand, code: goods.brand.toLowerCase(), official: false },
    images: [{ full: goods.image, thumbnail: goods.image }],
    tags: soldOut ? ['RETURNABLE', 'OUT_OF_STOCK'] : ['RETURNABLE', 'AVAILABLE'],
    attributes: [
      {
        name: 'Warna',
        type: 'BUTTON',
        values: goods.items.map((one) => ({ value: one.slice(-1) })),
      },
    ],
    options: digits === '700' ? [] : optionsOf(goods, item),
    categories: categories('RU'),
    masterCategories: categories('MA'),
    merchant: merchantOf(goods),
    review: { rating: Math.floor(goods.stars), count: goods.reviews, decimalRating: goods.stars },
    ...(goods.sold === 0
      ? {}
      : { statistics: { sold: goods.sold, seen: goods.sold * 9, soldLabel: String(goods.sold) } }),
    shippingAddress: {
      provinceName: 'DKI Jakarta',
      cityName: 'Kota Jakarta Barat',
      postalCode: '11410',
    },
    preOrder: { isPreOrder: false },
  };
}
