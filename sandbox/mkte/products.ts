import { changedPrice, getChange } from '../changes.ts';
import { random } from '../random.ts';
import { stores } from './stores.ts';

/** An invented product: the data of its page and its search results. */
export interface MkteProduct {
  asin: string;
  region: string;
  title: string;
  brand: string;
  /** True if the page offers the product. */
  isOffered: boolean;
  /** Price in currency units. */
  price: number;
  /** Struck price. Null if there is no discount. */
  before: number | null;
  /** Price for members. */
  memberPrice: number;
  usedPrice: number;
  rating: number;
  ratings: number;
  seller: string;
  sellerId: string;
  features: string[];
  specifications: [string, string][];
  images: string[];
  colours: string[];
  sizes: string[];
}

const things = [
  'Folding Lantern',
  'Cork Board & Pins',
  'Steel Bottle',
  'Wool "Harbour" Blanket',
  'Bicycle Bell',
];
const brands = ['Lumora', 'Tanuki & Sons', 'Verdigris'];

/**
 * Returns the product with an ASIN. Its values depend on the region, the ASIN, and the product's
 * change only.
 */
export function fakeProduct(region: string, asin: string): MkteProduct {
  const store = stores[region]!;
  const draw = random(`${region}/${asin}`);
  const unit = store.decimals === 0 ? 100 : 1;
  const change = getChange('mkte', region, asin);
  const amount =
    draw.integer(4, 2400) * unit + (store.decimals === 0 ? 0 : draw.integer(0, 99) / 100);
  const price = changedPrice(amount, change, store.decimals);
  const brand = draw.pick(brands);
  const thing = draw.pick(things);
  const title = `${brand} ${thing}, ${draw.integer(2, 9)} Pieces (${draw.text(4)})`;
  return {
    asin,
    region,
    title: change.title ?? title,
    brand,
    isOffered: change.stock !== 0,
    price,
    before: draw.once(2) ? Number((price * 1.25).toFixed(store.decimals)) : null,
    memberPrice: Number((price * 0.8).toFixed(store.decimals)),
    usedPrice: Number((price * 0.6).toFixed(store.decimals)),
    rating: draw.integer(20, 50) / 10,
    ratings: draw.integer(1, 90_000),
    seller: `${draw.pick(['North', 'Old', 'Blue'])} Harbour ${draw.text(3)}`,
    sellerId: `A${draw.text(12).toUpperCase()}`,
    features: [`${thing}: made of one piece.`, 'Wiped clean & put away.', `Lot ${draw.text(5)}.`],
    specifications: [
      ['Material', 'Cork'],
      ['Weight', `${draw.integer(1, 9)} kg`],
      ['Model', draw.text(6).toUpperCase()],
    ],
    images: Array.from(
      { length: draw.integer(2, 5) },
      () => `${draw.integer(41, 91)}${draw.text(9)}`,
    ),
    colours: ['Moss', 'Rust', 'Ink'].slice(0, draw.integer(2, 3)),
    sizes: ['S', 'M (38)'].slice(0, draw.integer(1, 2)),
  };
}

/** Returns the ASIN of a product's variant; the first variant is the product itself. */
export function variantAsin(asin: string, index: number): string {
  return index === 0 ? asin : `${asin.slice(0, 8)}${'VWXYZ'[index - 1]}${index}`;
}
