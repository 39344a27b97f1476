import { Fault } from '../base/fault.ts';

/** Objects and arrays of one JSON page at most. Large real pages hold 80,000; parsed, each takes 64 bytes or more. */
const maxContainers = 250_000;

const brace = '{'.charCodeAt(0);
const bracket = '['.charCodeAt(0);

/**
 * Throws `page_unreadable` for JSON text of more objects and arrays than a page has: a few bytes for each of them
 * would take 22 times as much memory once parsed. Brackets inside of texts count too.
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
    throw new Fault('page_unreadable', `the page holds more than ${maxContainers} JSON objects and arrays`);
  }
}
