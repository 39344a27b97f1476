import type { Problem } from './fault.ts';
import { didYouMean } from './suggest.ts';

/** Maximum problems listed in one response. */
export const maxProblems = 100;

export type ProblemText = Pick<Problem, 'msg' | 'type'>;

/** Creates problems with pydantic's types and messages, and with the value if there is one. */
export const problemText = {
  missing: (hint = ''): ProblemText => ({ type: 'missing', msg: `Field required${hint}` }),
  notObject: (hint = ''): ProblemText => ({
    type: 'model_attributes_type',
    msg: `Input should be an object${hint}`,
  }),
  tooShort: (minimum: bigint | number): ProblemText => ({
    type: 'string_too_short',
    msg: `String should have at least ${count(minimum, 'character')}`,
  }),
  tooLong: (maximum: bigint | number): ProblemText => ({
    type: 'string_too_long',
    msg: `String should have at most ${count(maximum, 'character')}`,
  }),
  mismatch: (pattern: string, value: string): ProblemText => {
    const words = describePattern(pattern);
    const rule = words === null ? `match pattern '${pattern}'` : `be ${words}`;
    return { type: 'string_pattern_mismatch', msg: `String should ${rule}, not ${quote(value)}` };
  },
  notOneOf: (allowed: readonly string[], value: string): ProblemText => ({
    type: 'enum',
    // The empty string stands for an absent value.
    msg:
      `Input should be ${alternatives(allowed.filter(Boolean))}, ` +
      `not ${quote(value)}${hint(value, allowed)}`,
  }),
  unknown: (what: string, name: string, names: readonly string[]): ProblemText => ({
    type: 'extra_forbidden',
    msg: `${what} ${quote(name)} is unknown.${didYouMean(name, names)}`,
  }),
  queryOnly: (name: string): ProblemText => ({
    type: 'extra_forbidden',
    msg: `Send ${quote(name)} as a query parameter, not in the body`,
  }),
  notUuid: (value: string): ProblemText => ({
    type: 'uuid_parsing',
    msg: `Input should be a valid UUID, not ${quote(value)}`,
  }),
  tooSmall: (minimum: bigint | number, value: bigint | number | string): ProblemText => ({
    type: 'greater_than_equal',
    msg: `Input should be greater than or equal to ${minimum}, not ${value}`,
  }),
  tooGreat: (maximum: bigint | number, value: bigint | number | string): ProblemText => ({
    type: 'less_than_equal',
    msg: `Input should be less than or equal to ${maximum}, not ${value}`,
  }),
  tooFew: (minimum: bigint | number, length: number): ProblemText => ({
    type: 'too_short',
    msg: `List should have at least ${count(minimum, 'item')} after validation, not ${length}`,
  }),
  tooMany: (maximum: bigint | number, length: number): ProblemText => ({
    type: 'too_long',
    msg: `List should have at most ${count(maximum, 'item')} after validation, not ${length}`,
  }),
  repeated: (times: number): ProblemText => ({
    type: 'value_error',
    msg: `Input should be sent once, not ${times} times`,
  }),
  wrong: (msg: string): ProblemText => ({ type: 'value_error', msg }),
};

/** Returns the question which choice a value stands for, or '' if none is close. */
function hint(value: string, allowed: readonly string[]): string {
  const question = didYouMean(value, allowed.filter(Boolean));
  return question === '' ? '' : `.${question}`;
}

/** Names of sets of characters, by their class in a pattern. */
const characterNames: ReadonlyMap<string, string> = new Map([
  ['0-9', 'digits'],
  ['A-Za-z0-9', 'letters and digits'],
  ['a-z0-9-', 'lowercase letters, digits, and hyphens'],
  ['!-~', 'visible ASCII characters'],
]);

/** A field of a record and a percentage: "title:99". */
const fieldPercentage = '[A-Za-z0-9_.*\\[\\]-]+:[0-9]{1,3}(\\.[0-9]{1,2})?';

/** Patterns of the contract that are not one class of characters, in words with an example. */
const patternWords: ReadonlyMap<string, string> = new Map([
  [
    '([0-9]{1,16}(\\.[0-9]{1,9})?-[A-Za-z0-9_-]{1,1000})?',
    'the next_page_token or next_cursor of an earlier response',
  ],
  ['([0-9]{1,9}\\.[0-9]{1,9})?', 'the next_page_token of an earlier response'],
  [
    '([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[0-9]{1,15})',
    'a UUID or the number of a task, such as 1042',
  ],
  ['([1-9][0-9]{0,5}(s|m|h|d))?', 'a number with s, m, h, or d, such as 6h'],
  ['(([1-9]|[12][0-9]|30)d)?', 'a number of days from 1d to 30d, such as 7d'],
  [
    '([A-Za-z0-9][A-Za-z0-9._-]{0,63})?',
    'a name of at most 64 letters, digits, dots, hyphens, and underscores, such as weekly-prices',
  ],
  [
    '([A-Za-z0-9_-]{1,64}(,[A-Za-z0-9_-]{1,64})*)?',
    'names separated by commas, such as archive,backup',
  ],
  [
    `(${fieldPercentage}(,${fieldPercentage})*)?`,
    'fields with percentages, such as price.amount:95,title:99',
  ],
  [
    '[a-z0-9][a-z0-9_-]{0,63}',
    'at most 64 lowercase letters, digits, hyphens, and underscores, such as weekly-prices',
  ],
  [
    '([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])?',
    'the name of a bucket in lowercase, such as acme-results',
  ],
  ["[A-Za-z0-9!#$%&'*+.^_`|~-]+", 'the name of a header, such as Authorization'],
  ['[!-~]([ -~]*[!-~])?', 'ASCII characters without spaces at the ends, such as Bearer abc'],
  [
    '[^\\x00-\\x1f\\x7f-\\x9f]*[^\\s\\x00-\\x1f\\x7f-\\x9f][^\\x00-\\x1f\\x7f-\\x9f]*',
    'text in one line, such as Weekly prices',
  ],
]);

/**
 * Returns a pattern in words: "1 to 20 digits". Null for a pattern that is neither one class of
 * characters nor known.
 */
export function describePattern(pattern: string): string | null {
  const words = patternWords.get(pattern.slice(1, -1));
  if (words !== undefined) return words;
  const [, characters = '', least = '', most = least] =
    /^\^\[([^\]]+)\](?:\{(\d+)(?:,(\d+))?\}|[*+])\$$/.exec(pattern) ?? [];
  const name = characterNames.get(characters);
  if (name === undefined) return null;
  if (most === '') return name;
  if (least === most) return `${most} ${name}`;
  if (least === '0') return `at most ${most} ${name}`;
  return `${least} to ${most} ${name}`;
}

/** Returns a value for a message, truncated to 100 characters. */
export function shorten(value: string): string {
  if (value.length > 100) return `${value.slice(0, 100)}…`;
  return value;
}

/** Quotes a value for a message, truncated to 100 characters. */
export function quote(value: string): string {
  return JSON.stringify(shorten(value));
}

function count(amount: bigint | number, unit: string): string {
  return `${amount} ${unit}${Number(amount) === 1 ? '' : 's'}`;
}

function alternatives(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  const last = quoted.pop() ?? 'nothing';
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
}
