import type { Json } from '../base/json.ts';
import { checkContainers } from './json-values.ts';

/** Brackets inside each other at most. Pages stay below 40; much deeper ones overflow the stack of
 *  whoever walks them. */
const deepest = 200;
/** Places tried for one marker: each failing one may cost a walk over the rest of the text. */
const mostTries = 20;

/** Where the bracket at `start` closes, one past it; -1 where it does not or nests absurdly deep. */
function closing(text: string, start: number): number {
  let depth = 0;
  for (let index = start; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"' || character === "'") {
      for (index += 1; index < text.length && text[index] !== character; index += 1) {
        if (text[index] === '\\') index += 1;
      }
    } else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > deepest) return -1;
    } else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 0) return index + 1;
    }
  }
  return -1;
}

/** The JSON value that a text is, an object or an array. Undefined for anything else, and for one that
 *  nests more than 200 deep. Fault `page_unreadable` for one of more values than a page has. */
export function parseJson(text: string): Json | undefined {
  const trimmed = text.trim();
  if (!/^[[{]/.test(trimmed) || closing(trimmed, 0) !== trimmed.length) return undefined;
  checkContainers(trimmed);
  try {
    return JSON.parse(trimmed) as Json;
  } catch {
    return undefined;
  }
}

/**
 * The first JSON object or array that stands right after a marker in a script, with only quotes, a
 * colon or an equals sign and white space between: `jsonAfter(source, "'initial'")` reads
 * `'initial': [...]`. Cut out by its brackets. Undefined when there is none that is JSON.
 */
export function jsonAfter(source: string, marker: string): Json | undefined {
  let from = 0;
  for (let tried = 0; tried < mostTries; tried += 1) {
    const place = source.indexOf(marker, from);
    if (place < 0) return undefined;
    from = place + marker.length;
    const gap = /^["']?\s{0,20}[:=]?\s{0,20}(?=[[{])/.exec(source.slice(from, from + 50));
    if (!gap) continue;
    const start = from + gap[0].length;
    const end = closing(source, start);
    const value = end < 0 ? undefined : parseJson(source.slice(start, end));
    if (value !== undefined) return value;
  }
  return undefined;
}
