import { describe, expect, test } from 'vitest';
import { faultCodes } from '../../src/contract/fault.ts';
import { isFinalFailure } from '../../src/contract/final-failure.ts';
import { failureGuide } from '../../src/present/failure-guide.ts';

/** Error codes that a unit can fail with. */
const unitCodes = [
  'invalid',
  ...Object.keys(faultCodes).slice(Object.keys(faultCodes).indexOf('page_not_found')),
];

describe('failureGuide()', () => {
  test.each(unitCodes)(
    'explains %s in words, and suggests a retry unless the failure is final',
    (code) => {
      const { heading, meaning, action } = failureGuide(code);
      expect(heading).toMatch(/^[A-Z][\w .:-]+$/);
      expect(heading).not.toContain('_');
      for (const text of [meaning, action]) expect(text).toMatch(/^[A-Z].+\.$/);
      expect(/\b(retry|resubmit)\b/i.test(action)).toBe(!isFinalFailure(code));
    },
  );

  test('shows an unknown code unchanged', () => {
    expect(failureGuide('page_moved').heading).toBe('page_moved');
  });
});
