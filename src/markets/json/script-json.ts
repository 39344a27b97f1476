import type { Json } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageWork } from '../html/page-work.ts';
import { closingBracket, parseJsonText } from './json-values.ts';

/** Maximum positions tried per marker. Each failed one can scan the rest of the text. */
const maxTries = 20;

/**
 * Parses text that is a JSON object or array. Undefined for anything else and for more than 200
 * levels. Throws `page_unreadable` for too many objects and arrays.
 */
export function parseJson(text: string): Json | undefined {
  const trimmed = text.trim();
  return /^[[{]/.test(trimmed) && closingBracket(trimmed, 0) === trimmed.length
    ? parseClosed(trimmed)
    : undefined;
}

/** Parses text between matching brackets. Undefined if it is not JSON. */
function parseClosed(json: string): Json | undefined {
  try {
    return parseJsonText(json);
  } catch (thrown) {
    if (thrown instanceof Fault) throw thrown;
    return undefined;
  }
}

/**
 * Returns the first JSON object or array that directly follows a marker in a script. Only quotes, a
 * colon or an equals sign, and white space can be in between: `jsonAfter(source, "'initial'")`
 * reads `'initial': [...]`. Undefined if there is none. Throws `page_too_complex` if the readers of
 * the page, with their `work`, have read too much text.
 */
export function jsonAfter(source: string, marker: string, work: PageWork): Json | undefined {
  let from = 0;
  for (let tryCount = 0; tryCount < maxTries; tryCount += 1) {
    const markerStart = source.indexOf(marker, from);
    if (markerStart < 0) return undefined;
    from = markerStart + marker.length;
    const gap = /^["']?\s{0,20}[:=]?\s{0,20}(?=[[{])/.exec(source.slice(from, from + 50));
    if (!gap) continue;
    const start = from + gap[0].length;
    const end = closingBracket(source, start);
    work.addRead((end < 0 ? source.length : end) - start);
    if (end < 0) continue;
    const value = parseScriptValue(source.slice(start, end));
    if (value !== undefined) return value;
  }
  return undefined;
}

/**
 * Parses JSON of a script. In a script's string in single quotes, an apostrophe is escaped, which
 * JSON does not allow.
 */
function parseScriptValue(json: string): Json | undefined {
  const value = parseClosed(json);
  if (value !== undefined || !json.includes("\\'")) return value;
  return parseClosed(json.replaceAll("\\'", "'"));
}
