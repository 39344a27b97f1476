import { type DescField, type DescMessage, ScalarType } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import type { FieldRules } from '../../../gen/gleaner/validate/rules_pb.ts';
import { rulesOf } from '../../contract/rules.ts';
import { services } from '../../contract/services.ts';

/** Patterns that match only whole values of limited length. */
const isBoundedPattern = (pattern: string): boolean =>
  /^\^[^*+|]*\$$/.test(pattern) && !/\{\d+,\}/.test(pattern);

function isBoundedScalar(scalar: ScalarType, rules: FieldRules | undefined): boolean {
  const type = rules?.type;
  if (scalar === ScalarType.BYTES) return type?.case === 'bytes' && type.value.maxLen > 0n;
  if (scalar !== ScalarType.STRING) return true;
  if (type?.case !== 'string') return false;
  const { maxLen, pattern, in: allowed, wellKnown } = type.value;
  return (
    maxLen > 0n ||
    allowed.length > 0 ||
    (wellKnown.case === 'uuid' && wellKnown.value) ||
    isBoundedPattern(pattern)
  );
}

/** Returns the part of a request's field that is unbounded, or null if there is none. */
function unbounded(field: DescField): string | null {
  const rules = rulesOf(field);
  if (field.fieldKind === 'map') return `${field}: a map has no bound`;
  const list = field.fieldKind === 'list';
  const repeated = list && rules.type.case === 'repeated' ? rules.type.value : undefined;
  if (list && !(repeated !== undefined && repeated.maxItems > 0n)) return `${field}: no max_items`;
  if (field.scalar === undefined) return null;
  return isBoundedScalar(field.scalar, list ? repeated?.items : rules)
    ? null
    : `${field}: no max_len`;
}

function parseFields(message: DescMessage, seen = new Set<DescMessage>()): DescField[] {
  if (seen.has(message) || message.typeName.startsWith('google.protobuf.')) return [];
  seen.add(message);
  return message.fields.flatMap((field) => [
    field,
    ...(field.message === undefined ? [] : parseFields(field.message, seen)),
  ]);
}

const methods = services.flatMap((service) => service.methods);

describe('the contract', () => {
  test('bounds every string, byte string and list of every request', () => {
    const fields = methods.flatMap(({ input }) => parseFields(input));
    expect(fields.length).toBeGreaterThan(100);
    expect(fields.map(unbounded).filter((found) => found !== null)).toEqual([]);
  });

  test.each([
    ['^[0-9]{1,20}$', true],
    ['^[0-9]+$', false],
    ['[0-9]{1,20}', false],
    ['^[0-9]{1,}$', false],
    ['^a|b$', false],
  ])('classifies the pattern %s: bounded %s', (pattern, bounded) => {
    expect(isBoundedPattern(pattern)).toBe(bounded);
  });
});
