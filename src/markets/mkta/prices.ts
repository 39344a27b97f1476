import { integer } from '../fields.ts';

/** Scale of the site's integer prices, the same for every region and currency. */
const scale = 100_000;

/** Returns a scaled price. Null for hidden or missing prices: no integer, 0 and -1. */
export function scaledPrice(price: unknown): number | null {
  const scaled = integer(price);
  return scaled !== null && scaled > 0 ? scaled : null;
}

/** Converts a scaled price to currency units. Null for hidden or missing prices: no integer, 0 and -1. */
export function unscaled(price: unknown): number | null {
  const scaled = scaledPrice(price);
  return scaled === null ? null : scaled / scale;
}

/** Returns the discount in percent from the site's forms: 13, "13%", "-70%". Null if there is none. */
export function discountPercent(discount: unknown): number | null {
  const text =
    typeof discount === 'string' ? /^-?\s*(\d+(?:\.\d+)?)\s*%$/.exec(discount.trim())?.[1] : discount;
  const percent = Math.abs(Number(text ?? Number.NaN));
  return Number.isFinite(percent) && percent > 0 ? percent : null;
}
