/** Words and letters for thousands and more, as the eight regions' pages write them. */
const multipliers: readonly (readonly [RegExp, number])[] = [
  [/^(?:rb|ribu|k|n|nghìn|ngàn|mil|พัน|千)(?!\p{L})/iu, 1e3],
  [/^(?:万|萬|หมื่น)/u, 1e4],
  [/^แสน/u, 1e5],
  [/^(?:jt|juta|m|tr|triệu|mi|milhão|milhões|ล้าน)(?!\p{L})/iu, 1e6],
];

function multiplier(rest: string): number {
  return multipliers.find(([word]) => word.test(rest))?.[1] ?? 1;
}

/** Digits with separators as a number. One separator before one or two last digits is a decimal
 *  point, as in "1,2RB"; separators before groups of three are for reading only. */
function parsed(digits: string): number {
  if (/^\d{1,3}(?:[.,]\d{3})+$/.test(digits)) return Number(digits.replace(/[.,]/g, ''));
  return Number(digits.replace(',', '.'));
}

/** The count in a text such as "Terjual 10RB+", "1,2rb", "30k+", "1.234", "已售出 1.2萬": the least
 *  number it stands for. Null when the text holds no number. */
export function countInText(text: string): number | null {
  const match = /(\d+(?:[.,]\d+)*)\s*(.*)$/su.exec(text);
  if (!match) return null;
  const count = Math.round(parsed(match[1]!) * multiplier(match[2]!));
  return Number.isFinite(count) ? count : null;
}

/**
 * A number of sold pieces from the site's number and texts. A number above 0 counts; where it is 0
 * or missing the first text with a number does, since newer answers put 0 beside "30k+". Null when
 * neither is there: a hidden count is not 0.
 */
export function soldCount(number: unknown, ...texts: unknown[]): number | null {
  if (typeof number === 'number' && number > 0) return number;
  for (const text of [number, ...texts]) {
    const count = typeof text === 'string' ? countInText(text) : null;
    if (count !== null) return count;
  }
  return number === 0 ? 0 : null;
}
