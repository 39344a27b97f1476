import { Fault } from '../contract/fault.ts';

/** Maximum objects and arrays in a JSON page. Large real pages have 80,000; each takes at least 64 bytes. */
const maxContainers = 250_000;

const brace = '{'.charCodeAt(0);
const bracket = '['.charCodeAt(0);

/**
 * Throws `page_unreadable` for JSON text with too many objects and arrays. Parsing one can take 22 times the
 * memory of its text. Brackets inside strings count as well.
 */
export function checkContainers(json: string): void {
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
