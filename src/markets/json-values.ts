import type { Json, JsonObject } from '../base/json.ts';
import { Fault } from '../contract/fault.ts';

/** Maximum objects and arrays in a JSON page. Large real pages have 80,000; each takes at least 64 bytes. */
const maxContainers = 250_000;

/**
 * Maximum depth of objects and arrays. Pages stay below 40; much deeper ones overflow recursive functions.
 */
const maxDepth = 200;

const brace = '{'.charCodeAt(0);
const bracket = '['.charCodeAt(0);

/**
 * Throws `page_unreadable` for JSON text with too many objects and arrays. Parsing one can take 22 times the
 * memory of its text. Brackets inside strings count as well.
 */
function checkContainers(json: string): void {
  // The shortest object and its comma take three characters.
  if (json.length < 3 * maxContainers) return;
  let containers = 0;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === brace || code === bracket) containers += 1;
  }
  if (containers > maxContainers) {
    throw new Fault('page_unreadable', `the page has more than ${maxContainers} JSON objects and arrays`);
  }
}

/**
 * Returns true if a value has a number above 2^53, which may have lost digits. Throws `page_unreadable` for
 * more than 200 levels.
 */
function hasLongNumber(value: Json[] | JsonObject, levels: number): boolean {
  if (levels === 0) {
    throw new Fault('page_unreadable', `the page has more than ${maxDepth} levels of JSON`);
  }
  let found = false;
  const check = (member: Json | undefined) => {
    if (typeof member === 'number') found ||= Math.abs(member) > Number.MAX_SAFE_INTEGER;
    else if (typeof member === 'object' && member !== null)
      found = hasLongNumber(member, levels - 1) || found;
  };
  if (Array.isArray(value)) for (const member of value) check(member);
  // Parsed objects have own members only, and this loop is faster than Object.values().
  else for (const name in value) check(value[name]);
  return found;
}

/** Keeps an integer as text if a number cannot hold all of its digits. */
function exact(_name: string, value: Json, { source }: { source?: string }): Json {
  return typeof value === 'number' && /^-?\d{16,}$/.test(source ?? '') && !Number.isSafeInteger(value)
    ? source!
    : value;
}

/**
 * Parses JSON of a page. Integers beyond 2^53, such as ids of 19 digits, become text with their exact digits.
 * Throws `page_unreadable` for too many objects and arrays or more than 200 levels of them; SyntaxError for
 * invalid JSON.
 */
export function parseJsonText(json: string): Json {
  checkContainers(json);
  const value = JSON.parse(json) as Json;
  if (typeof value !== 'object' || value === null || !hasLongNumber(value, maxDepth)) return value;
  return JSON.parse(json, exact as Parameters<typeof JSON.parse>[1]) as Json;
}
