import { changedPrice, getChange } from '../changes.ts';
import { type Random, random } from '../random.ts';
import { regions } from './regions.ts';

/** A variant of an invented item. Prices are in currency units. */
export interface FakeModel {
  id: number;
  name: string;
  price: number;
  before: number;
  stock: number;
  sold: number;
  tierIndex: number[];
}

/** An invented item: the data of its product page and its entry in listings. */
export interface FakeItem {
  id: number;
  shopId: number;
  region: string;
  currency: string;
  title: string;
  description: string;
  place: string;
  brand: string | null;
  brandId: number;
  created: number;
  images: string[];
  tiers: { name: string; options: string[] }[];
  models: FakeModel[];
  stock: number;
  sold: number;
  historicalSold: number;
  liked: number;
  /** Counts of ratings: the total, then one to five stars. */
  ratings: number[];
  stars: number;
  crossBorder: boolean;
  official: boolean;
  soldOut: boolean;
  discount: number;
  labels: number[];
}

/** Forms of items by the last digits of their id (README.md). */
export const forms = {
  single: '700',
  soldOut: '701',
  loggedOut: '702',
  sparse: '703',
  masked: '704',
  soldText: '705',
  hiddenStock: '706',
  flat: '707',
  many: '708',
} as const;

const sizes = ['S', 'M', 'L', 'XL', 'XXL'];
const brands = ['Lumora', 'Tanuki & Sons', 'Verdigris', 'Kelapa Works', null, null];
const firstCreated = Date.UTC(2021, 0, 1) / 1000;
const lastCreated = Date.UTC(2025, 5, 1) / 1000;

/** Rounds an amount to two decimals. */
function money(amount: number): number {
  return Math.round(amount * 100) / 100;
}

/** Draws the number of ratings, in total and by stars from 1 to 5, and their average. */
function ratingsOf(draw: ReturnType<typeof random>): { stars: number[]; average: number } {
  const counts = [20, 20, 60, 300, 2000].map((most) => draw.integer(0, most));
  const total = counts.reduce((sum, count) => sum + count, 0);
  const points = counts.reduce((sum, count, index) => sum + count * (index + 1), 0);
  return { stars: [total, ...counts], average: total === 0 ? 0 : points / total };
}

/** Returns the dimensions of an item's variants. */
function tiersOf(form: string, colours: readonly string[], draw: Random): FakeItem['tiers'] {
  if (form === forms.many)
    return [{ name: 'No.', options: Array.from({ length: 100 }, (_, at) => `#${at + 1}`) }];
  const tiers = [{ name: 'Color', options: colours.slice(0, draw.integer(2, colours.length)) }];
  if (draw.once(2))
    tiers.push({ name: 'Size', options: sizes.slice(0, draw.integer(2, sizes.length)) });
  return tiers;
}

/**
 * Returns the item with an id. Its values depend on the region, the id, and the item's change only.
 */
export function fakeItem(region: string, id: number, shopId: number): FakeItem {
  const draw = random(`${region}/${id}`);
  const form = String(id).slice(-3);
  const { currency, prices, places, things, kinds, colours } = regions[region]!;
  const [least, most, step] = prices;
  const single = form === forms.single || (form !== forms.many && draw.once(5));
  const tiers = single ? [] : tiersOf(form, colours, draw);
  const change = getChange('mkta', region, id);
  const soldOut = form === forms.soldOut || draw.once(15);
  const discount = draw.once(3) ? draw.integer(1, 7) * 10 : 0;
  const steps = Math.floor((most - least) / step);
  const base = least + step * Math.floor(steps * draw.next() ** 2);
  const combinations = tiers.reduce<number[][]>(
    (all, { options }) => all.flatMap((before) => options.map((_, at) => [...before, at])),
    [[]],
  );
  const models = combinations.map((tierIndex, at): FakeModel => {
    const price = changedPrice(money(base + step * 2 * (at % 7)), change);
    const stock = soldOut ? 0 : draw.integer(0, 400);
    return {
      id: id * 10 + at,
      name: tierIndex.map((option, tier) => tiers[tier]!.options[option]!).join(','),
      price,
      before: discount === 0 ? 0 : money(Math.ceil(price / (1 - discount / 100) / step) * step),
      stock: change.stock ?? stock,
      sold: draw.integer(0, 90),
      tierIndex: single ? [0] : tierIndex,
    };
  });
  const { stars, average } = ratingsOf(draw);
  const thing = draw.pick(things);
  const title = `${thing} ${draw.pick(kinds)} ${draw.text(3).toUpperCase()}-${id % 10_000}`;
  const brand = draw.pick(brands);
  return {
    id,
    shopId,
    region,
    currency,
    title: change.title ?? title,
    description: `${title}.\n\n${`${thing}, ${draw.pick(kinds)}. `.repeat(draw.integer(20, 40))}`,
    place: draw.pick(places),
    brand,
    brandId: brand === null ? 0 : 2_000_000 + brands.indexOf(brand),
    created: draw.integer(firstCreated, lastCreated),
    images: Array.from(
      { length: draw.integer(1, 8) },
      () => `${region}-99990000-${draw.text(5)}-${draw.text(14)}`,
    ),
    tiers: single ? [{ name: '', options: [''] }] : tiers,
    models,
    stock: models.reduce((sum, { stock }) => sum + stock, 0),
    sold: models.reduce((sum, { sold }) => sum + sold, 0),
    historicalSold: models.reduce((sum, { sold }) => sum + sold, 0) * draw.integer(2, 40),
    liked: draw.integer(0, 5000),
    ratings: stars,
    stars: average,
    crossBorder: draw.once(10),
    official: draw.once(8),
    soldOut: (soldOut && change.stock === undefined) || models.every(({ stock }) => stock === 0),
    discount,
    labels: Array.from({ length: draw.integer(3, 20) }, () =>
      draw.integer(1_000_000, 844_931_086_908_638),
    ),
  };
}

/** Returns a price as the site's scaled integer. */
export function scaled(price: number): number {
  return Math.round(price * 100_000);
}
