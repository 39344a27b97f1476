import type { Json } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';

/**
 * Maximum objects and arrays in a JSON page. Large real pages have 80,000; each takes at least 64
 * bytes.
 */
const maxContainers = 250_000;

/**
 * Maximum values in a JSON page with long integers, which is parsed value by value: a million takes
 * up to two seconds.
 */
const maxExactValues = 600_000;

/**
 * Maximum depth of objects and arrays. Pages stay below 40; much deeper ones overflow recursive
 * functions.
 */
const maxDepth = 200;

const [nine, quote, apostrophe, backslash] = [0x39, 0x22, 0x27, 0x5c];

/** Characters before a number. */
const numberStarts = new Set(Array.from(':,[- \n\r\t', (character) => character.charCodeAt(0)));

const isDigit = (code: number) => code >= 0x30 && code <= nine;

/**
 * Returns true if a number in JSON text may be above 2^53, which has 16 digits and begins with a 9.
 * Any run of 16 digits covers a position that is a multiple of 16, so only those are tested.
 */
function mayHaveLongInteger(json: string): boolean {
  for (let index = 0; index < json.length; index += 16) {
    if (!isDigit(json.charCodeAt(index))) continue;
    let [start, end] = [index, index + 1];
    while (isDigit(json.charCodeAt(start - 1))) start -= 1;
    while (isDigit(json.charCodeAt(end))) end += 1;
    const isLong = end - start > 16 || (end - start === 16 && json.charCodeAt(start) === nine);
    if (isLong && numberStarts.has(json.charCodeAt(start - 1))) return true;
    index = end - (end % 16);
  }
  return false;
}

/**
 * Counts some characters in JSON text, up to one more than `limit`, with those inside strings. A
 * search for each takes a tenth of the time of a loop over all characters.
 */
function countCharacters(json: string, characters: string, limit: number): number {
  let count = 0;
  for (const character of characters) {
    for (
      let at = json.indexOf(character);
      at >= 0 && count <= limit;
      at = json.indexOf(character, at + 1)
    )
      count += 1;
  }
  return count;
}

const countBrackets = (json: string, limit: number) => countCharacters(json, '{[', limit);

/** Returns true if the text of a JSON object or array has more than 200 levels. */
function isTooDeep(json: string): boolean {
  // Most pages have fewer brackets.
  return countBrackets(json, maxDepth) > maxDepth && closingBracket(json, json.search(/[[{]/)) < 0;
}

/**
 * Returns the position after the bracket that closes the one at `start`, outside of strings in
 * either kind of quotes; -1 if it is not closed or nested more than 200 levels deep.
 */
export function closingBracket(text: string, start: number): number {
  let level = 0;
  for (let index = start; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === quote || code === apostrophe) {
      index = endOfString(text, index);
      if (index < 0) return -1;
      continue;
    }
    const change = levelChange(code);
    level += change;
    if (level > maxDepth) return -1;
    if (level === 0 && change < 0) return index + 1;
  }
  return -1;
}

/**
 * Returns 1 for an opening bracket, -1 for a closing bracket, and 0 for any other character code.
 */
function levelChange(code: number): number {
  // '[' and '{', and ']' and '}', differ by this bit only.
  const bracket = code | 0x20;
  if (bracket === 0x7b) return 1;
  return bracket === 0x7d ? -1 : 0;
}

/**
 * Returns the position of the quote that ends the string whose quote is at `start`; -1 without one.
 */
function endOfString(text: string, start: number): number {
  const mark = text.charAt(start);
  for (let end = text.indexOf(mark, start + 1); end >= 0; end = text.indexOf(mark, end + 1)) {
    let escapes = 0;
    while (end - 1 - escapes > start && text.charCodeAt(end - 1 - escapes) === backslash)
      escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return -1;
}

/** Keeps an integer as text if a number cannot hold all of its digits. */
function exact(_name: string, value: Json, { source }: { source?: string }): Json {
  const isInexact =
    typeof value === 'number' && /^-?\d{16,}$/.test(source ?? '') && !Number.isSafeInteger(value);
  return isInexact ? source! : value;
}

/**
 * Parses JSON of a page. Integers beyond 2^53, such as ids of 19 digits, become text with their
 * exact digits. Throws `page_unreadable` for too many objects and arrays, of which parsing can take
 * 22 times the memory of the text, or for more than 200 levels of them; `page_too_complex` for too
 * many values beside a long integer; SyntaxError for invalid JSON.
 */
export function parseJsonText(json: string): Json {
  // A shorter text cannot have as many.
  if (json.length > maxContainers && countBrackets(json, maxContainers) > maxContainers) {
    throw new Fault(
      'page_unreadable',
      `the page has more than ${maxContainers} JSON objects and arrays`,
    );
  }
  const value = JSON.parse(json) as Json;
  if (typeof value !== 'object' || value === null) return value;
  if (isTooDeep(json)) {
    throw new Fault('page_unreadable', `the page has more than ${maxDepth} levels of JSON`);
  }
  if (!mayHaveLongInteger(json)) return value;
  // A shorter text cannot have as many.
  if (
    json.length > 2 * maxExactValues &&
    countCharacters(json, ',', maxExactValues) > maxExactValues
  )
    throw new Fault('page_too_complex', `the page has more than ${maxExactValues} JSON values`);
  return JSON.parse(json, exact as Parameters<typeof JSON.parse>[1]) as Json;
}
