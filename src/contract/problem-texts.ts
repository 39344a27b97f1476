import type { Problem } from './fault.ts';

/** Maximum problems listed in one response. */
export const maxProblems = 100;

/** Message and type of a problem. */
export type Said = Pick<Problem, 'msg' | 'type'>;

/** Creates problems in pydantic's types and words, with the value where there is one. */
export const said = {
  missing: (): Said => ({ type: 'missing', msg: 'Field required' }),
  tooShort: (least: bigint | number): Said => ({
    type: 'string_too_short',
    msg: `String should have at least ${count(least, 'character')}`,
  }),
  tooLong: (most: bigint | number): Said => ({
    type: 'string_too_long',
    msg: `String should have at most ${count(most, 'character')}`,
  }),
  mismatch: (pattern: string, value: string): Said => ({
    type: 'string_pattern_mismatch',
    msg: `String should match pattern '${pattern}', not ${quote(value)}`,
  }),
  notOneOf: (allowed: readonly string[], value: string): Said => ({
    type: 'enum',
    msg: `Input should be ${alternatives(allowed)}, not ${quote(value)}`,
  }),
  notUuid: (value: string): Said => ({
    type: 'uuid_parsing',
    msg: `Input should be a valid UUID, not ${quote(value)}`,
  }),
  tooSmall: (least: bigint | number, value: bigint | number): Said => ({
    type: 'greater_than_equal',
    msg: `Input should be greater than or equal to ${least}, not ${value}`,
  }),
  tooGreat: (most: bigint | number, value: bigint | number): Said => ({
    type: 'less_than_equal',
    msg: `Input should be less than or equal to ${most}, not ${value}`,
  }),
  tooFew: (least: bigint | number, given: number): Said => ({
    type: 'too_short',
    msg: `List should have at least ${count(least, 'item')} after validation, not ${given}`,
  }),
  tooMany: (most: bigint | number, given: number): Said => ({
    type: 'too_long',
    msg: `List should have at most ${count(most, 'item')} after validation, not ${given}`,
  }),
  wrong: (msg: string): Said => ({ type: 'value_error', msg }),
};

/** Quotes a value for a message, truncated to 100 characters. */
export function quote(value: string): string {
  return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
}

function count(amount: bigint | number, unit: string): string {
  return `${amount} ${unit}${Number(amount) === 1 ? '' : 's'}`;
}

function alternatives(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  const last = quoted.pop() ?? 'nothing';
  return quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
}
