import { expect } from 'vitest';

/** A value that an answer must hold where its exact value is not known beforehand. */
export interface Matcher {
  readonly $$typeof: symbol;
  asymmetricMatch(value: unknown): boolean;
  toString(): string;
  toAsymmetricMatcher(): string;
}

/** A matcher for `expect(…).toStrictEqual(…)` that a report calls by its name. */
export function matching(name: string, fits: (value: unknown) => boolean): Matcher {
  return {
    $$typeof: Symbol.for('jest.asymmetricMatcher'),
    asymmetricMatch: fits,
    toString: () => name,
    toAsymmetricMatcher: () => name,
  };
}

/** Tells whether a value of a table is a matcher. */
export function isMatcher(value: unknown): value is Matcher {
  return typeof value === 'object' && value !== null && 'asymmetricMatch' in value;
}

/** Text of a pattern. */
export function like(pattern: RegExp, name = String(pattern)): Matcher {
  return matching(name, (value) => typeof value === 'string' && pattern.test(value));
}

/** A uuid in lower case. */
export const uuid = like(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, 'uuid');

/** Any text with something in it. */
export const text = like(/\S/, 'text');

/** An integer above 0. */
export const positive = matching('positive integer', (value) => Number.isInteger(value) && Number(value) > 0);

/** A signed link to a file of that name, where `*` stands for any characters. */
export function link(name: string): Matcher {
  const pattern = name.replaceAll('.', '\\.').replaceAll('*', '[^/?]+');
  return like(new RegExp(`^http://127\\.0\\.0\\.1:\\d+/files/[^/]+/${pattern}\\?`), `link to ${name}`);
}

/** An object that has at least these members. */
export function having(members: Record<string, unknown>): Matcher {
  return expect.objectContaining(members);
}
