import { describe, expect, test } from 'vitest';
import { failureGuide } from '../../console/src/jobs/failure-guide.ts';
import { faultCodes } from '../../src/contract/fault.ts';

/** Error codes that a unit can fail with. */
const unitCodes = Object.keys(faultCodes).slice(Object.keys(faultCodes).indexOf('page_not_found'));

describe('failureGuide()', () => {
  test.each(unitCodes)('explains %s in words, and its retry hint follows the retry rule', (code) => {
    const { heading, meaning, action, retryHelps } = failureGuide(code);
    expect(heading).toMatch(/^[A-Z][\w .:-]+$/);
    expect(heading).not.toContain('_');
    for (const text of [meaning, action]) expect(text).toMatch(/^[A-Z].+\.$/);
    expect(retryHelps).toBe(faultCodes[code as keyof typeof faultCodes] !== 'never');
  });

  test('shows an unknown code unchanged', () => {
    expect(failureGuide('page_moved').heading).toBe('page_moved');
  });
});
