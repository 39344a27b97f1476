import { Fault } from '../fault.ts';
import { NumberLiteral } from './scalars.ts';

// May also match inside a string, which only costs a second read.
const fraction = /\d[.eE]/;

/** Parses a body as JSON. Throws `malformed`. */
export function parseJson(text: string): unknown {
  return guarded(() => JSON.parse(text));
}

/**
 * Parses like parseJson(), with numbers that are not written as plain integers as NumberLiteral.
 */
export function parseJsonLiterals(text: string): unknown {
  return guarded(() => JSON.parse(text, keepLiterals));
}

/** Returns true if a text may contain numbers that are not written as plain integers. */
export function mayHoldLiterals(text: string): boolean {
  return fraction.test(text);
}

function guarded(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    // A reviver throws a RangeError for a body that is nested too deeply.
    throw new Fault('malformed', `The body is not valid JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

function keepLiterals(
  this: unknown,
  _key: string,
  value: unknown,
  context?: { source?: string },
): unknown {
  if (typeof value !== 'number' || context?.source === undefined || !fraction.test(context.source))
    return value;
  return new NumberLiteral(value);
}

/**
 * Formats a value of parseJson() or parseJsonLiterals(). A number that was not a plain integer is
 * not one afterwards.
 */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part instanceof NumberLiteral ? rawJson(formatLiteral(part.value)) : part,
  );
}

// TypeScript does not know this function yet.
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown };

function formatLiteral(value: number): string {
  const text = String(value);
  return fraction.test(text) ? text : `${text}.0`;
}
