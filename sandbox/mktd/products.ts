import { changedPrice, getChange } from '../changes.ts';
import { random } from '../random.ts';

/** Properties of a region. */
interface Region {
  currency: string;
  symbol: string;
  /** Minimum and maximum price in whole currency units. */
  prices: readonly [number, number];
  /** Digits after the decimal point. */
  decimals: number;
  colour: string;
  colours: readonly string[];
  size: string;
  brand: string;
  things: readonly string[];
}

const english = {
  colour: 'Color',
  colours: ['Moss', 'Rust', 'Chalk', 'Ink'],
  size: 'Size',
  brand: 'Brand',
};

/** Regions by code. */
export const regions: Readonly<Record<string, Region>> = {
  id: {
    currency: 'IDR',
    symbol: 'Rp',
    prices: [15_000, 900_000],
    decimals: 0,
    colour: 'Warna',
    colours: ['Hijau', 'Merah bata', 'Putih'],
    size: 'Ukuran',
    brand: 'Merek',
    things: ['Lampu meja bambu', 'Tas pinggang kanvas', 'Botol minum lipat'],
  },
  my: {
    currency: 'MYR',
    symbol: 'RM',
    prices: [3, 240],
    decimals: 2,
    ...english,
    things: ['Rattan tray', 'Folding stool', 'Rain cover'],
  },
  sg: {
    currency: 'SGD',
    symbol: 'S$',
    prices: [2, 180],
    decimals: 2,
    ...english,
    things: ['Desk lamp', 'Lunch tin', 'Bicycle bell'],
  },
  th: {
    currency: 'THB',
    symbol: '฿',
    prices: [39, 4200],
    decimals: 2,
    colour: 'สี',
    colours: ['เขียว', 'ขาว', 'ดำ'],
    size: 'ขนาด',
    brand: 'แบรนด์',
    things: ['โคมไฟไม้ไผ่', 'กระเป๋าผ้า', 'ร่มพับ'],
  },
  vn: {
    currency: 'VND',
    symbol: '₫',
    prices: [19_000, 2_400_000],
    decimals: 0,
    colour: 'Màu sắc',
    colours: ['Xanh rêu', 'Đỏ gạch', 'Trắng'],
    size: 'Kích thước',
    brand: 'Thương hiệu',
    things: ['Đèn bàn tre', 'Túi vải', 'Ô gấp'],
  },
  ph: {
    currency: 'PHP',
    symbol: '₱',
    prices: [49, 6500],
    decimals: 2,
    ...english,
    things: ['Woven mat', 'Tin lantern', 'Jeepney model'],
  },
};

/** A variant of an invented product. */
export interface FakeSku {
  id: string;
  values: { property: string; value: string; id: string }[];
  /** Prices as decimal text in currency units. */
  price: string;
  original: string;
  stock: number;
}

/** An invented product: the data of both generations of pages. */
export interface MktdProduct {
  id: string;
  region: string;
  title: string;
  texts: string[];
  brand: string | null;
  sold: number;
  rating: number;
  reviews: number;
  sellerId: string;
  shop: string;
  skus: FakeSku[];
}

/** Forms of products by the last digits of their id (README.md). */
const forms = { soldOut: '706', unrated: '707', many: '708' } as const;

const sizes = ['S', 'M', 'L'];

/**
 * Returns the product with an id. Its values depend on the region, the id, and the product's change
 * only.
 */
export function fakeProduct(region: string, id: string): MktdProduct {
  const profile = regions[region]!;
  const draw = random(`${region}/${id}`);
  const form = id.slice(-3);
  const change = getChange('mktd', region, id);
  const colours = profile.colours.slice(0, draw.integer(1, profile.colours.length));
  const second =
    form === forms.many
      ? Array.from({ length: 70 }, (_, at) => `${at + 36}`)
      : sizes.slice(0, draw.integer(1, 3));
  const amount = () =>
    draw.integer(...profile.prices) + (profile.decimals === 0 ? 0 : draw.integer(0, 99) / 100);
  const skus = colours.flatMap((colour, first) =>
    second.map((size, other) => {
      const price = changedPrice(amount(), change);
      const stock = form === forms.soldOut ? 0 : draw.integer(0, 900);
      return {
        id: `${id.slice(0, 13)}${String(100_000 + first * 1000 + other)}`,
        values: [
          { property: profile.colour, value: colour, id: `71${first}` },
          { property: profile.size, value: size, id: `82${other}` },
        ],
        price: price.toFixed(profile.decimals),
        original: (price * 1.25).toFixed(profile.decimals),
        stock: change.stock ?? stock,
      };
    }),
  );
  const unrated = form === forms.unrated;
  const thing = draw.pick(profile.things);
  const title = `${thing} ${draw.text(4).toUpperCase()}`;
  return {
    id,
    region,
    title: change.title ?? title,
    texts: [`${thing}.`, 'Made of one piece & wiped clean.', draw.text(12)],
    brand: draw.once(2) ? 'Lumora' : null,
    sold: draw.integer(0, 40_000),
    rating: unrated ? 0 : draw.integer(30, 50) / 10,
    reviews: unrated ? 0 : draw.integer(1, 3000),
    sellerId: `7495${String(draw.integer(0, 999_999_999)).padStart(15, '0')}`,
    shop: `${draw.pick(['Kedai', 'Toko', 'House of', 'Little'])} ${draw.text(5)}`,
    skus,
  };
}

/** Formats a price as the pages do. In currencies without decimals, points separate thousands. */
export function formatPrice(region: string, amount: string): string {
  const { symbol, decimals } = regions[region]!;
  const [units, fraction] = amount.split('.') as [string, string?];
  const grouped = units.replace(/\B(?=(\d{3})+$)/g, decimals === 0 ? '.' : ',');
  if (fraction === undefined) return `${symbol}${grouped}`;
  return `${symbol}${grouped}.${fraction}`;
}

/** Returns an image entry as both generations have it: signed and expiring. */
export function image(name: string) {
  return {
    height: 800,
    width: 800,
    uri: `tos-alisg/${name}`,
    url_list: [
      `https://p16.example-cdn.test/tos-alisg/${name}~origin.jpeg?x-expires=1760000000&x-signature=abc`,
    ],
  };
}

/** Returns a review with a reviewer's name, which records must not contain. */
export const reviewer = { name: 'Reviewer Name', avatar: image('avatar'), link: '/@reviewer' };
