import { expect } from 'vitest';

/** A matcher for a value of a response that is not known in advance. */
export interface Matcher {
  readonly $$typeof: symbol;
  asymmetricMatch(value: unknown): boolean;
  toString(): string;
  toAsymmetricMatcher(): string;
}

/** Creates a matcher for `toStrictEqual()` with a name for the report. */
export function matching(name: string, fits: (value: unknown) => boolean): Matcher {
  return {
    $$typeof: Symbol.for('jest.asymmetricMatcher'),
    asymmetricMatch: fits,
    toString: () => name,
    toAsymmetricMatcher: () => name,
  };
}

/** Returns true if a value of a table is a matcher. */
export function isMatcher(value: unknown): value is Matcher {
  return typeof value === 'object' && value !== null && 'asymmetricMatch' in value;
}

/** Matches strings by a pattern. */
export function like(pattern: RegExp, name = String(pattern)): Matcher {
  return matching(name, (value) => typeof value === 'string' && pattern.test(value));
}

/** Matches a lower-case UUID. */
export const uuid = like(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'uuid');

/** Matches any string that is not blank. */
export const text = like(/\S/, 'text');

/** Matches a positive integer. */
export const positive = matching(
  'positive integer',
  (value) => Number.isInteger(value) && Number(value) > 0,
);

/** Matches a negative integer. */
export const negative = matching(
  'negative integer',
  (value) => Number.isInteger(value) && Number(value) < 0,
);

/** Matches a signed link to a file. `*` in the name matches any characters. */
export function link(name: string): Matcher {
  const pattern = name.replaceAll('.', '\\.').replaceAll('*', '[^/?]+');
  return like(
    new RegExp(`^http://127\\.0\\.0\\.1:\\d+/files/[^/]+/${pattern}\\?`),
    `link to ${name}`,
  );
}

/** Matches an object with at least these members. */
export function having(members: Record<string, unknown>): Matcher {
  return expect.objectContaining(members);
}
