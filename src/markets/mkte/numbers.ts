/** Multipliers of abbreviated counts: "84.7K", "8.4万", "12 mil", "3 Mio." */
const scales: readonly (readonly [RegExp, number])[] = [
  [/^(?:k|mil|mila|tsd|tys|千)$/i, 1e3],
  [/^(?:m|mio|mill)$/i, 1e6],
  [/^[万萬]$/, 1e4],
  [/^lakh$/i, 1e5],
];

/** A rating without its scale: "4.3", "4 stars". Other words tell a count: "3 ratings". */
const onlyRating = /^\s*\d(?:[.,]\d{1,2})?(?:\s+stars?)?\s*$/i;

const isScale = (digits: string | undefined) =>
  digits !== undefined && /^5(?:[.,]0)?$/.test(digits);

/**
 * Returns the rating in text such as "4.2 out of 5 stars", "4,3 von 5 Sternen" or "5つ星のうち3.4", with
 * a decimal point and the digits of the text. Languages that state the scale first have 5 as the
 * first of two numbers. Null for another scale, and for no rating from 0 to 5.
 */
export function ratingText(text: string | null): string | null {
  const [first, second] = (text ?? '').match(/\d+(?:[.,]\d+)?/g) ?? [];
  if (second === undefined && !onlyRating.test(text ?? '')) return null;
  if (second !== undefined && !isScale(first) && !isScale(second)) return null;
  const digits = first === '5' && second !== undefined ? second : first;
  const rating = digits?.replace(',', '.') ?? '';
  if (/^\d(?:\.\d{1,2})?$/.test(rating) && Number(rating) <= 5) return rating;
  return null;
}

export function ratingIn(text: string | null): number | null {
  const rating = ratingText(text);
  return rating === null ? null : Number(rating);
}

/**
 * Returns the digits of the first integer in a text without thousands separators: "1596" for "1.596
 * valoraciones". Null if there is none or the text abbreviates the number ("84.7K").
 */
export function exactCount(text: string | null): string | null {
  const match = /(\d{1,3}(?:[.,'’\s]\d{3})+|\d+)(?!\d)\s?([.,]?\d*\s?[A-Za-z万萬千]*)/.exec(
    text ?? '',
  );
  if (!match || /^[.,]\d/.test(match[2]!) || scaleOf(match[2]!) !== null) return null;
  return match[1]!.replace(/\D/g, '');
}

/** Returns the multiplier that a unit stands for. Null for any other word. */
function scaleOf(unit: string): number | null {
  return scales.find(([pattern]) => pattern.test(unit.trim()))?.[1] ?? null;
}

/**
 * Returns a count from a text. An abbreviated count is its lower bound: "(84.7K)" is 84700. Null if
 * there is none.
 */
export function roughCount(text: string | null): number | null {
  const exact = exactCount(text);
  if (exact !== null) return Number(exact);
  const match = /(?<![\d.,])(\d+(?:[.,]\d+)?)\s?([A-Za-z万萬千]+)/.exec(text ?? '');
  const scale = scaleOf(match?.[2] ?? '');
  if (!match || scale === null) return null;
  return Math.round(Number(match[1]!.replace(',', '.')) * scale);
}
