import { isDeepStrictEqual } from 'node:util';
import type { Json } from '../../src/base/json.ts';
import type { Expectations } from './manifest.ts';
import { find } from './path.ts';

/** An expectation that a record does not meet. */
export interface Miss {
  path: string;
  expected: string;
  got: string;
}

function shown(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  const text = JSON.stringify(value);
  return text.length > 200 ? `${text.slice(0, 200)}… (${text.length} characters)` : text;
}

/**
 * Compares two JSON values. Types are significant, 8000 equals 8000.0, and the order of keys is
 * ignored.
 */
function equal(left: Json | undefined, right: Json): boolean {
  return isDeepStrictEqual(left, right);
}

function holdsPattern(value: Json | undefined, pattern: string): boolean {
  if (value === undefined || value === null) return false;
  return new RegExp(pattern).test(typeof value === 'string' ? value : JSON.stringify(value));
}

/**
 * Returns the expectations of a sample (rules 5 to 8 of the manifest) that `root` does not meet.
 */
export function misses(root: Json, wanted: Expectations): Miss[] {
  const missed: Miss[] = [];
  const check = (
    path: string,
    holds: (value: Json | undefined, present: boolean) => boolean,
    expected: string,
  ) => {
    const { value, present } = find(root, path);
    if (!holds(value, present))
      missed.push({ path, expected, got: present ? shown(value) : 'nothing' });
  };
  for (const [path, value] of Object.entries(wanted.expect ?? {})) {
    check(path, (got, present) => present && equal(got, value), shown(value));
  }
  for (const [path, allowed] of Object.entries(wanted.any ?? {})) {
    const holds = (got: Json | undefined) => allowed.some((one) => equal(got ?? null, one));
    check(path, holds, `one of ${shown(allowed)}`);
  }
  for (const [path, pattern] of Object.entries(wanted.match ?? {})) {
    check(path, (got) => holdsPattern(got, pattern), `/${pattern}/`);
  }
  for (const [path, least] of Object.entries(wanted.min ?? {})) {
    check(path, (got) => typeof got === 'number' && got >= least, `at least ${least}`);
  }
  for (const path of wanted.null ?? [])
    check(path, (got) => (got ?? null) === null, 'null or nothing');
  for (const path of wanted.absent ?? []) check(path, (_, present) => !present, 'no such path');
  return missed;
}
