import { expect, test } from 'vitest';
import { readWarnings } from './rest-error.ts';

test('readWarnings() returns the warning of the service and the decoded names of ignored fields', () => {
  const headers = new Headers({
    'X-Gleaner-Warning': 'No origin is configured for mkta/th.',
    'X-Ignored-Fields': 'max_page, items[].na%20me',
  });
  expect(readWarnings(headers)).toEqual([
    'No origin is configured for mkta/th.',
    'Unknown fields were ignored: max_page, items[].na me',
  ]);
});

test('readWarnings() returns nothing for a response without warnings', () => {
  expect(readWarnings(new Headers())).toEqual([]);
});
