/** Multipliers in the languages of the eight regions. */
const multipliers: readonly (readonly [RegExp, number])[] = [
  [/^(?:rb|ribu|k|n|nghìn|ngàn|mil|พัน|千)(?!\p{L})/iu, 1e3],
  [/^(?:万|萬|หมื่น)/u, 1e4],
  [/^แสน/u, 1e5],
  [/^(?:jt|juta|m|tr|triệu|mi|milhão|milhões|ล้าน)(?!\p{L})/iu, 1e6],
];

function multiplier(rest: string): number {
  return multipliers.find(([word]) => word.test(rest))?.[1] ?? 1;
}

/**
 * Parses digits with separators. One separator before the last one or two digits is a decimal point, as in
 * "1,2RB"; separators before groups of three are ignored.
 */
function parsed(digits: string): number {
  if (/^\d{1,3}(?:[.,]\d{3})+$/.test(digits)) return Number(digits.replace(/[.,]/g, ''));
  return Number(digits.replace(',', '.'));
}

/**
 * Returns the count in text such as "Terjual 10RB+", "1,2rb", "30k+", "1.234", "已售出 1.2萬": the lower bound
 * that the text states. Null if it has no number.
 */
export function countInText(text: string): number | null {
  const match = /(\d+(?:[.,]\d+)*)\s*(.*)$/su.exec(text);
  if (!match) return null;
  const count = Math.round(parsed(match[1]!) * multiplier(match[2]!));
  return Number.isFinite(count) ? count : null;
}

/**
 * Returns the number of pieces sold from the site's number and texts. If the number is 0 or missing, the
 * first text with a number counts, because newer responses have 0 beside "30k+". Null if both are missing: a
 * hidden count is not 0.
 */
export function soldCount(number: unknown, ...texts: unknown[]): number | null {
  if (typeof number === 'number' && number > 0) return number;
  for (const text of [number, ...texts]) {
    const count = typeof text === 'string' ? countInText(text) : null;
    if (count !== null) return count;
  }
  return number === 0 ? 0 : null;
}
