import { isObject, type Json, type JsonObject } from '../base/json.ts';

/** The value itself when it is an object, else an empty one: a way into what may be missing. */
export function object(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The value itself when it is an array, else an empty one. */
export function list(value: unknown): Json[] {
  return Array.isArray(value) ? value : [];
}

/** The objects of an array, in order; what is no object is left out. */
export function objects(value: unknown): JsonObject[] {
  return list(value).filter(isObject);
}

/** Text with something in it, as it came, or a number as text. Null for anything else. */
export function text(value: unknown): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value;
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : null;
}

/** A number, or text that is one with a decimal point or comma ("4.9", "4,9"). Null for anything else. */
export function number(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string' || !/^\s*-?\d+(?:[.,]\d+)?\s*$/.test(value)) return null;
  return Number(value.replace(',', '.'));
}

/** A whole number, or text that is one. Null for fractions, for what a double cannot hold exactly
 *  and for anything else. */
export function integer(value: unknown): number | null {
  if (typeof value === 'string' && !/^\s*-?\d+\s*$/.test(value)) return null;
  const whole = number(value);
  return Number.isSafeInteger(whole) ? whole : null;
}

/** A number above 0, or text that is one. Null for 0 and below, which sites write for "none"
 *  (decisions, "money"), and for anything else. */
export function positive(value: unknown): number | null {
  const found = number(value);
  return found !== null && found > 0 ? found : null;
}

/**
 * An amount of rupiah from a number or from text such as "Rp1.234.000", "Rp 4.000 - Rp 8.000" (its
 * first) or "IDR 12.500,00": points part thousands, a comma parts the fraction. Null where there is
 * none or it is 0.
 */
export function rupiah(value: unknown): number | null {
  if (typeof value === 'number') return positive(value);
  if (typeof value !== 'string') return null;
  const match = /\d+(?:\.\d{3})*(?:,\d{1,2}(?!\d))?/.exec(value);
  return match ? positive(match[0].replaceAll('.', '').replace(',', '.')) : null;
}

/** Percent from a number or from text such as "20%" or "-20%": the amount taken off, without sign. Null
 *  where there is none. */
export function percent(value: unknown): number | null {
  const found =
    typeof value === 'string'
      ? number(/^\s*-?\s*(\d+(?:[.,]\d+)?)\s*%?\s*$/.exec(value)?.[1])
      : number(value);
  return found === null ? null : Math.abs(found);
}

const thousands = /^(?:rb|ribu|k)(?!\p{L})/iu;
const millions = /^(?:jt|juta|m|mio)(?!\p{L})/iu;

/**
 * A count from a number or from text such as "548", "1.234", "2rb+ terjual", "1,4 rb", "5 k", "30k+",
 * "Terjual 10RB+" or "1,2 jt": the least number that the text stands for. Null where there is none.
 */
export function count(value: unknown): number | null {
  if (typeof value === 'number') return integer(value);
  const match = typeof value === 'string' ? /(\d+(?:[.,]\d+)*)\s*(.*)$/su.exec(value) : null;
  if (!match) return null;
  const digits = match[1]!;
  const grouped = /^\d{1,3}(?:[.,]\d{3})+$/.test(digits);
  const amount = Number(grouped ? digits.replace(/[.,]/g, '') : digits.replace(',', '.'));
  const unit = thousands.test(match[2]!) ? 1e3 : millions.test(match[2]!) ? 1e6 : 1;
  return integer(Math.floor(Number((amount * unit).toFixed(6))));
}

/** The value without the members of these names, at any depth: for what is about visitors and
 *  buyers (decisions, "personal data"). The value given is not changed. */
export function without(value: Json | undefined, names: ReadonlySet<string>): Json | undefined {
  if (Array.isArray(value)) return value.map((element) => without(element, names) ?? null);
  if (!isObject(value)) return value;
  // fromEntries, unlike assignment, makes a plain member even of "__proto__".
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !names.has(name))
      .map(([name, member]) => [name, without(member, names)]),
  );
}
