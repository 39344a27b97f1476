import { expect, test } from 'vitest';
import { checkContainers } from './json-values.ts';

test.each(['{}', '[]', '{"a":1}'])('checkContainers() rejects a page of %s only', (value) => {
  const page = (count: number) => `[${`${value},`.repeat(count - 1)}${value}]`;
  expect(() => checkContainers(page(249_999))).not.toThrow();
  expect(() => checkContainers(page(250_001))).toThrow(
    expect.objectContaining({
      code: 'page_unreadable',
      message: 'the page has more than 250000 JSON objects and arrays',
    }),
  );
});

test('checkContainers() accepts a large page of long strings', () => {
  expect(() => checkContainers(`["${'x'.repeat(8_000_000)}"]`)).not.toThrow();
});
