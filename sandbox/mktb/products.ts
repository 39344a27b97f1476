import { changedPrice, getChange } from '../changes.ts';
import { hash, random } from '../random.ts';

/** An invented product of marketplace B. */
export interface MktbGoods {
  id: string;
  name: string;
  key: string;
  /** Price in rupiah. */
  price: number;
  /** Price in rupiah before the discount; 0 without a discount. */
  before: number;
  discount: number;
  stars: number;
  reviews: number;
  sold: number;
  stock: number;
  shop: { id: string; domain: string; name: string; city: string };
  image: string;
  freeShipping: boolean;
}

const things = [
  'Lampu Baca',
  'Rak Bambu',
  'Tikar Pandan',
  'Gelas Tanah',
  'Sapu Ijuk',
  'Kotak Bekal',
];
const looks = ['Merah', 'Biru', 'Polos', 'Lipat', 'Mini', 'Besar'];
const cities = ['Bandung', 'Kab. Sleman', 'Malang', 'Kota Padang'];

/** Returns the shop with a number or a domain; both identify the same shop. */
export function fakeShop(name: string): MktbGoods['shop'] {
  const digits = /(\d+)$/.exec(name)?.[1] ?? String(1_000_000 + (hash(name) % 9_000_000));
  const domain = /^\d+$/.test(name) ? `warung-${digits}` : name.toLowerCase();
  return {
    id: digits,
    domain,
    name: `Warung ${digits}`,
    city: cities[Number(digits) % cities.length]!,
  };
}

/** Returns the product of a seed. The same seed gives the same product, apart from its change. */
export function fakeProduct(seed: string, shop?: MktbGoods['shop']): MktbGoods {
  const draw = random(`mktb ${seed}`);
  const id = String(2_000_000_000 + hash(seed));
  const name = `${draw.pick(things)} ${draw.pick(looks)} ${seed}`;
  const change = getChange('mktb', 'id', id);
  const price = changedPrice(draw.integer(3, 900) * 500, change, 0);
  const discount = draw.once(3) ? draw.integer(5, 60) : 0;
  const sold = draw.once(5) ? 0 : draw.integer(1, 40_000);
  const reviews = Math.floor(sold / 4);
  const stars = reviews === 0 ? 0 : draw.integer(38, 50) / 10;
  const stock = draw.once(9) ? 0 : draw.integer(1, 300);
  return {
    id,
    name: change.title ?? name,
    key: `${name.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`,
    price,
    before: discount === 0 ? 0 : Math.round(price / (1 - discount / 100)),
    discount,
    stars,
    reviews,
    sold,
    stock: change.stock ?? stock,
    shop: shop ?? fakeShop(`warung-${draw.integer(1000, 1099)}`),
    image: `https://images.tokopedia.net/img/cache/700/fake/${id}.jpg`,
    freeShipping: draw.once(2),
  };
}

/** Formats an amount as the site does. */
export function rupiah(amount: number): string {
  return amount === 0 ? '' : `Rp${String(amount).replace(/\B(?=(\d{3})+$)/g, '.')}`;
}

/** Returns the label with the number sold, or null if there are no sales. */
export function soldLabels(sold: number): { position: string; title: string; type: string }[] {
  if (sold === 0) return [];
  return [
    { position: 'promo', title: 'Cashback', type: 'lightGreen' },
    {
      position: sold % 2 === 0 ? 'integrity' : 'ri_product_credibility',
      title: `${roughCount(sold)} terjual`,
      type: '',
    },
  ];
}

/** Returns a count as the site rounds it: "2rb+", "300+" or "12". */
function roughCount(count: number): string {
  if (count >= 1000) return `${Math.floor(count / 1000)}rb+`;
  if (count >= 100) return `${Math.floor(count / 100)}00+`;
  return String(count);
}

/** Returns the lower bound that the labels of soldLabels() state. */
export function soldAtLeast(sold: number): number | null {
  if (sold === 0) return null;
  if (sold >= 1000) return Math.floor(sold / 1000) * 1000;
  if (sold >= 100) return Math.floor(sold / 100) * 100;
  return sold;
}

/** Returns the products that are not withdrawn. */
export function available(goods: readonly MktbGoods[]): MktbGoods[] {
  return goods.filter(({ id }) => !getChange('mktb', 'id', id).isRemoved);
}
