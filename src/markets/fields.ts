import { isObject, type Json, type JsonObject } from '../base/json.ts';
import { datumAmount, priceAmount } from './money/money.ts';

/** Returns the only text of several. Null for none, and for different ones. */
export function onlyOf(texts: Iterable<string | null>): string | null {
  const distinct = new Set(texts);
  return distinct.size === 1 ? [...distinct][0]! : null;
}

/** Returns the value if it is an object, otherwise an empty object. */
export function object(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns the value if it is an array, otherwise an empty array. */
export function list(value: unknown): Json[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the objects of an array, in order, without its other elements. */
export function objects(value: unknown): JsonObject[] {
  return list(value).filter(isObject);
}

/** Returns non-blank text unchanged, or a finite number as text. Null for anything else. */
export function text(value: unknown): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value;
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  return null;
}

/**
 * Returns a number, also from text with a decimal point or comma ("4.9", "4,9"). Null for anything
 * else, also for a comma that can separate thousands ("1,299"), and for a number beyond 2^53, which
 * has lost digits.
 */
export function number(value: unknown): number | null {
  if (typeof value === 'number') return isExact(value) ? value : null;
  if (typeof value !== 'string' || !/^\s*-?\d+(?:\.\d+|,\d{1,2})?\s*$/.test(value)) return null;
  const parsed = Number(value.replace(',', '.'));
  return isExact(parsed) ? parsed : null;
}

const isExact = (value: number): boolean => Number.isSafeInteger(Math.trunc(value));

/**
 * Returns a safe integer, also from text. Null for fractions, unsafe integers and anything else.
 */
export function integer(value: unknown): number | null {
  if (typeof value === 'string' && !/^\s*-?\d+\s*$/.test(value)) return null;
  const parsed = number(value);
  return Number.isSafeInteger(parsed) ? parsed : null;
}

/** Returns the first result of `read` that is not null, of the values in order. Null for none. */
export function firstOf<Value, Result>(
  values: Iterable<Value>,
  read: (value: Value) => Result | null,
): Result | null {
  for (const value of values) {
    const result = read(value);
    if (result !== null) return result;
  }
  return null;
}

/** Returns the first value that is an integer by integer(). Null if there is none. */
export const firstInteger = (...values: unknown[]): number | null => firstOf(values, integer);

/** Returns the integers of an array by integer(), in order, without its other elements. */
export function integers(value: unknown): number[] {
  return list(value)
    .map(integer)
    .filter((element) => element !== null);
}

/** Returns the texts of an array by text(), in order, without its other elements. */
export function texts(value: unknown): string[] {
  return list(value)
    .map(text)
    .filter((element) => element !== null);
}

/**
 * Returns the http address in a text unchanged, one without a scheme ("//host/…") with https, and a
 * relative one on `base`. Null for other schemes, such as images in the page itself, and for a
 * relative one without a base.
 */
export function absoluteUrl(value: unknown, base?: string): string | null {
  const address = text(value)?.trim() ?? '';
  if (/^https?:\/\/./i.test(address)) return address;
  if (/^\/\/[^/]/.test(address)) return `https:${address}`;
  if (address === '' || base === undefined) return null;
  const url = URL.parse(address, base);
  return url !== null && /^https?:$/.test(url.protocol) ? url.href : null;
}

/** Returns a path without percent-encoding, or as it is if that is invalid. */
export function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * Returns a number above 0, also from text. Null for anything else: sites write 0 and -1 for
 * "none".
 */
export function positive(value: unknown): number | null {
  const found = number(value);
  return found !== null && found > 0 ? found : null;
}

/**
 * Returns an amount of rupiah from a number or from text such as "Rp1.234.000", "Rp 4.000 - Rp
 * 8.000" (4000) or "IDR 12.500,00", by the rules of priceAmount(). Null for 0 and for a number
 * with a fraction, which rupiah have not.
 */
export function rupiah(value: unknown): number | null {
  if (typeof value === 'string') return positive(priceAmount(value, 'IDR'));
  return typeof value === 'number' ? datumAmount(value, 'IDR') : null;
}

/**
 * Returns the amount of rupiah that a card abbreviates to thousands or millions: "Rp7,59jt" is
 * 7590000. Only for prices that a page shows in no other way, as the abbreviation may be rounded.
 * Null for any other text.
 */
export function abbreviatedRupiah(value: unknown): number | null {
  const [, digits, unit] =
    /^\s*Rp\.?\s?(\d{1,3}(?:[.,]\d{1,2})?)\s?(rb|ribu|jt|juta)\s*$/i.exec(text(value) ?? '') ?? [];
  const scale = unit && multipliers.find(([word]) => word.test(unit))?.[1];
  if (digits && scale) return positive(Math.round(Number(digits.replace(',', '.')) * scale));
  return null;
}

/**
 * Returns the absolute percentage from a number or from text such as "20%" or "-20%". Null if there
 * is none.
 */
export function percent(value: unknown): number | null {
  const found =
    typeof value === 'string'
      ? number(/^-?\s*(\d+(?:[.,]\d+)?)\s*%?$/.exec(value.trim())?.[1])
      : number(value);
  return found === null ? null : Math.abs(found);
}

/** Multipliers after a number, in the languages of the regions. */
const multipliers: readonly (readonly [RegExp, number])[] = [
  [/^(?:rb|ribu|k|n|nghìn|ngàn|mil|พัน|千)(?!\p{L})/iu, 1e3],
  [/^(?:万|萬|หมื่น)/u, 1e4],
  [/^แสน/u, 1e5],
  [/^(?:jt|juta|m|mio|tr|triệu|mi|milhão|milhões|ล้าน)(?!\p{L})/iu, 1e6],
];

/**
 * Returns a count from a number or from text such as "548", "1.234", "2rb+ terjual", "1,4 rb", "5
 * k", "30k+", "Terjual 10RB+", "1,2 jt" or "已售出 1.2萬": the lower bound that the text states. Null
 * if there is none, for a negative number, and for a fraction without a unit.
 */
export function count(value: unknown): number | null {
  if (typeof value === 'number') return value < 0 ? null : integer(value);
  const match = typeof value === 'string' ? countPattern.exec(value) : null;
  if (!match) return null;
  const digits = match[1]!;
  const grouped = /^\d{1,3}(?:[.,\s'’]\d{3})+$/.test(digits);
  const amount = Number(grouped ? digits.replace(/\D/g, '') : digits.replace(',', '.'));
  const unit = multipliers.find(([word]) => word.test(match[2]!))?.[1] ?? 1;
  if (unit === 1 && !Number.isInteger(amount)) return null;
  return integer(Math.floor(Number((amount * unit).toFixed(6))));
}

/** The first number of a text, and the text after it. */
const countPattern =
  /^(?!\s*[-−]\s?\d)\D*(\d{1,3}(?:[ \u00a0\u202f'’]\d{3})+(?!\d)|\d+(?:[.,]\d+)*)\s*(.*)$/su;

/**
 * Returns a copy of a value without the members of these names at any depth. Readers use it to drop
 * data about visitors and buyers.
 */
export function without(value: Json | undefined, names: ReadonlySet<string>): Json | undefined {
  if (Array.isArray(value)) return value.map((element) => without(element, names) ?? null);
  if (!isObject(value)) return value;
  // fromEntries, unlike assignment, creates an own property even for "__proto__".
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !names.has(name))
      .map(([name, member]) => [name, without(member, names)]),
  );
}

/** Returns a text of a site on one line, cut to 200 characters for a message. */
export function brief(words: string): string {
  const line = words.replace(/\s+/g, ' ').trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}
