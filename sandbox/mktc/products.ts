import { changedPrice, getChange } from '../changes.ts';
import { hash, random } from '../random.ts';

/** An invented product of marketplace C. */
export interface MktcGoods {
  /** Product SKU: `ABC-60100-00042`. */
  productSku: string;
  /** SKUs of its items. */
  items: string[];
  code: string;
  name: string;
  brand: string;
  /** Price in rupiah. */
  offered: number;
  listed: number;
  discount: number;
  stock: number;
  sold: number;
  reviews: number;
  stars: number;
  merchant: { code: string; name: string; official: boolean };
  image: string;
}

const things = ['Peci Anyam', 'Sarung Tenun', 'Tas Belanja', 'Botol Minum', 'Tempat Cincin'];

/** Returns the merchant with a code. */
export function fakeMerchant(code: string): MktcGoods['merchant'] {
  return { code, name: `Kios ${code}`, official: hash(code) % 2 === 0 };
}

/** Returns the product with a product SKU. */
export function fakeProduct(productSku: string): MktcGoods {
  const draw = random(`mktc ${productSku}`);
  const code = productSku.split('-').slice(0, 2).join('-');
  const change = getChange('mktc', 'id', productSku);
  const offered = changedPrice(draw.integer(2, 800) * 500, change, 0);
  const discount = draw.once(3) ? draw.integer(5, 60) : 0;
  const sold = draw.once(4) ? 0 : draw.integer(1, 9000);
  const reviews = Math.floor(sold / 5);
  const count = draw.integer(1, 4);
  const name = `${draw.pick(things)} ${productSku}`;
  const brand = draw.pick(['Rumahan', 'no brand', 'Setia']);
  const stock = draw.integer(1, 500);
  return {
    productSku,
    items: Array.from({ length: count }, (_, at) => `${productSku}-0000${at + 1}`),
    code: `MTA-${hash(productSku)}`,
    name: change.title ?? name,
    brand,
    offered,
    listed: Math.round(offered / (1 - discount / 100)),
    discount,
    stock: change.stock ?? stock,
    sold,
    reviews,
    stars: reviews === 0 ? 0 : draw.integer(40, 50) / 10,
    merchant: fakeMerchant(code),
    image: `https://www.static-src.com/fake/${productSku}.jpg`,
  };
}

/** Returns a product of a merchant's listing. */
export function listed(code: string, at: number): MktcGoods {
  return fakeProduct(`${code}-${String(at + 1).padStart(7, '0')}`);
}

/** Formats an amount as the site does. */
export function rupiah(amount: number): string {
  return `Rp${String(amount).replace(/\B(?=(\d{3})+$)/g, '.')}`;
}

/** Formats a count rounded as the site does: "1,4 rb". */
export function rough(amount: number): string {
  return amount < 1000
    ? String(amount)
    : `${String(Math.floor(amount / 100) / 10).replace('.', ',')} rb`;
}
