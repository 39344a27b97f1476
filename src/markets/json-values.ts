import type { Json, JsonObject } from '../base/json.ts';
import { Fault } from '../contract/fault.ts';

/** Maximum objects and arrays in a JSON page. Large real pages have 80,000; each takes at least 64 bytes. */
const maxContainers = 250_000;

/**
 * Maximum depth of objects and arrays. Pages stay below 40; much deeper ones overflow recursive functions.
 */
const maxDepth = 200;

/** What a scan of JSON text finds. Brackets and numbers inside strings count as well. */
interface JsonScan {
  /** Number of objects and arrays, and of their levels. */
  containers: number;
  levels: number;
  /** True if a number may be above 2^53. */
  mayBeLong: boolean;
}

/** Characters before a number. */
const numberStarts = new Set([...':,[- \n\r\t'].map((character) => character.charCodeAt(0)));

/** Scans JSON text in the time that parsing takes; a walk over its values takes three times that. */
function scan(json: string): JsonScan {
  let [containers, level, levels, digits, mayBeLong] = [0, 0, 0, 0, false];
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code > 0x39) {
      digits = 0;
      // '[' and '{', and ']' and '}', differ by this bit only.
      const bracket = code | 0x20;
      if (bracket === 0x7b) {
        containers += 1;
        level += 1;
        if (level > levels) levels = level;
      } else if (bracket === 0x7d) level -= 1;
    } else if (code < 0x30) digits = 0;
    else {
      digits += 1;
      // 2^53 has 16 digits, and begins with a 9.
      if (digits === 17 || (digits === 16 && json[index - 15] === '9'))
        mayBeLong ||= numberStarts.has(json.charCodeAt(index - digits));
    }
  }
  return { containers, levels, mayBeLong };
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
 * Throws `page_unreadable` for too many objects and arrays, of which parsing can take 22 times the memory of
 * the text, or for more than 200 levels of them; SyntaxError for invalid JSON.
 */
export function parseJsonText(json: string): Json {
  const { containers, levels, mayBeLong } = scan(json);
  if (containers > maxContainers) {
    throw new Fault('page_unreadable', `the page has more than ${maxContainers} JSON objects and arrays`);
  }
  const value = JSON.parse(json) as Json;
  if (typeof value !== 'object' || value === null || (levels <= maxDepth && !mayBeLong)) return value;
  if (!hasLongNumber(value, maxDepth)) return value;
  return JSON.parse(json, exact as Parameters<typeof JSON.parse>[1]) as Json;
}
