/** JSON value whose integers beyond 2^53 are bigints, so that no digit is lost. */
export type ExactJson =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly ExactJson[]
  | { readonly [key: string]: ExactJson };

/** Row or record with exact numbers. */
export type ExactObject = { readonly [key: string]: ExactJson };

/** Returns true if a value is an object: not null, not an array. */
export function isExactObject(value: ExactJson): value is ExactObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * JSON source text access (TC39), which Node has and the TypeScript library does not describe yet.
 */
interface SourceTextJson {
  parse(
    text: string,
    revive: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  rawJSON(text: string): unknown;
}
const { parse, rawJSON } = JSON as unknown as SourceTextJson;

/**
 * Matches texts with a number of 16 digits or more before its fraction; also some where a string
 * contains one.
 */
const longInteger = /(?:^|[:,[\s])-?[0-9]{16}/;

const longDigits = 16;

/**
 * Returns true if a text has 16 digits in a row. Tests every 16th character, of which each such row
 * has one: the expression above takes as long as a quarter of JSON.parse().
 */
function hasLongDigits(text: string): boolean {
  const isDigit = (at: number) => {
    const code = text.charCodeAt(at);
    return code >= 48 && code <= 57;
  };
  for (let at = longDigits - 1; at < text.length; at += longDigits) {
    if (!isDigit(at)) continue;
    let [start, end] = [at, at + 1];
    while (isDigit(start - 1)) start -= 1;
    while (isDigit(end)) end += 1;
    if (end - start >= longDigits) return true;
  }
  return false;
}

/** Parses JSON text. Integers that a double cannot represent become bigints. */
export function parseExact(text: string): ExactJson {
  // Reviving is slow, and few texts have such integers.
  if (!hasLongDigits(text) || !longInteger.test(text)) return JSON.parse(text) as ExactJson;
  return parse(text, (_key, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?[0-9]+$/.test(source ?? '')
      ? BigInt(source!)
      : value,
  ) as ExactJson;
}

/** Returns the member at a path of member names, or undefined if there is none. */
export function memberAt(value: ExactJson, steps: readonly string[]): ExactJson | undefined {
  let member: ExactJson | undefined = value;
  for (const step of steps) {
    if (member === undefined || !isExactObject(member)) return undefined;
    member = Object.hasOwn(member, step) ? member[step] : undefined;
  }
  return member;
}

/** Formats a value as JSON text; bigints as integers. */
export function formatExact(value: ExactJson): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // JSON.stringify() throws for the first bigint. A replacer for every value would be slow.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, (_key, member: unknown) =>
      typeof member === 'bigint' ? rawJSON(`${member}`) : member,
    );
  }
}
