import { expect, test } from 'vitest';
import { isOtherCountry, isOtherLocale } from './country-host.ts';

test.each([
  ['kiln.com', 'kiln.co.uk', true],
  ['www.kiln.co.id', 'kiln.sg', true],
  ['us.kiln.com', 'eu.kiln.com', true],
  ['kiln.com', 'de.kiln.com', true],
  ['www.kiln.com', 'en-gb.kiln.com', true],
  ['kiln.com', 'www.kiln.com', false],
  ['kiln.com', 'shop.kiln.com', false],
  ['KILN.com', 'kiln.com.', false],
  ['kiln.shops.example', 'kiln.com', false],
  ['kiln.com', 'accounts.example.com', false],
  ['127.0.0.1', '127.0.0.2', false],
  ['[::1]', '[::2]', false],
  ['localhost', 'kiln.com', false],
])('isOtherCountry(%s, %s) is %s', (asked, answered, other) =>
  expect(isOtherCountry(asked, answered)).toBe(other),
);

test.each([
  ['/p/1', '/p/1', false],
  ['/p/1', '/fr/p/1', false],
  ['/p/1', '/en-us/p/1', true],
  ['/de/p/1', '/p/1', false],
  ['/de/p/1', '/DE/p/1', false],
  ['/de/p/1', '/fr/p/1', true],
  ['/en-gb/p/1', '/en-us/p/1', true],
  ['/p/1', '/engine/1', false],
])('isOtherLocale(%s, %s) is %s', (requested, path, other) =>
  expect(isOtherLocale(requested, path)).toBe(other),
);
