/** A number as its JSON text spells it, where reading it as a double would change it. */
export interface ExactNumber {
  readonly rawJSON: string;
}

interface JsonOfNow {
  rawJSON?(text: string): ExactNumber;
  isRawJSON?(value: unknown): value is ExactNumber;
}

const json = JSON as JsonOfNow;

/**
 * Parses JSON so that writing it again gives the same numbers: ids beyond 2^53 in pages' own data stay what
 * they are. Where the platform cannot do that, it is plain JSON.parse. Throws a SyntaxError.
 */
export function parseExact(text: string): unknown {
  if (json.rawJSON === undefined || !/\d{16}|\d[.eE]/.test(text)) return JSON.parse(text);
  return JSON.parse(text, keepNumber);
}

/** Whether a value that parseExact gave is a number that it kept as text. */
export function isExactNumber(value: unknown): value is ExactNumber {
  return json.isRawJSON?.(value) === true;
}

function keepNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined || String(value) === context.source)
    return value;
  return json.rawJSON!(context.source);
}
