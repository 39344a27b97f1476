import { isUtf8 } from 'node:buffer';
import { Fault } from '../../src/contract/fault.ts';
import { NumberLiteral } from '../../src/contract/json/scalars.ts';

// May also match inside a string, which only costs a second read.
const fraction = /\d[.eE]/;

/** Decodes the text of a body, without a byte order mark. Fault: `malformed` for bytes that are not UTF-8. */
export function decodeText(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new Fault('malformed', 'The body is not valid UTF-8');
  const start = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return bytes.toString('utf8', start);
}

/** Parses a body as JSON. Fault: `malformed`. */
export function parseJson(text: string): unknown {
  return guarded(() => JSON.parse(text));
}

/** Parses like parseJson(), with numbers that are not written as plain integers as NumberLiteral. */
export function parseJsonLiterals(text: string): unknown {
  return guarded(() => JSON.parse(text, keepLiterals));
}

/** Returns whether a text may contain numbers that are not written as plain integers. */
export function mayHoldLiterals(text: string): boolean {
  return fraction.test(text);
}

function guarded(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    // A reviver throws a RangeError for a body that is nested too deeply.
    throw new Fault('malformed', `The body is not valid JSON: ${(error as Error).message}`, { cause: error });
  }
}

function keepLiterals(this: unknown, _key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined || !fraction.test(context.source))
    return value;
  return new NumberLiteral(value);
}
