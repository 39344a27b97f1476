import type { Problem } from '../../src/contract/fault.ts';
import { pathPart } from '../../src/contract/path-part.ts';
import { quote } from '../../src/contract/problem-texts.ts';
import { ignoredFieldsHeader } from '../../src/contract/response-headers.ts';

const maxNameLength = 64;
const none: Readonly<Record<string, string>> = {};

/**
 * Returns the header that names ignored fields, percent-encoded and separated by commas, or none if
 * there are no such fields.
 */
export function ignoredHeaders(fields: ReadonlySet<string>): Readonly<Record<string, string>> {
  if (fields.size === 0) return none;
  const names = Array.from(fields, (name) =>
    pathPart(name.slice(0, maxNameLength)).replaceAll('%5B', '[').replaceAll('%5D', ']'),
  );
  return { [ignoredFieldsHeader]: names.join(', ') };
}

/**
 * Parses the request header `X-Strict`: `true` or `false`. Returns the problem of any other value.
 */
export function readStrict(header: string | undefined): boolean | Problem {
  if (header === undefined || header === 'false') return false;
  if (header === 'true') return true;
  return {
    loc: ['header', 'x-strict'],
    type: 'bool_parsing',
    msg: `Input should be true or false, not ${quote(header)}`,
  };
}
