import { expect, test } from 'vitest';
import { parseOrigins } from '../base/origins.ts';
import { maxConcurrency, originPolicy } from './policy.ts';

const settings = (given: object) => parseOrigins(JSON.stringify({ mkta: given })).get('mkta');

test('originPolicy() uses plain HTTP unless the origins file or the market sets the browser', () => {
  expect(originPolicy({}, undefined).fetch).toBe('http');
  expect(originPolicy({}, settings({ sg: 'http://a' })).fetch).toBe('http');
  expect(originPolicy({}, settings({ fetch: 'browser' })).fetch).toBe('browser');
  expect(originPolicy({ fetch: 'browser' }, undefined).fetch).toBe('browser');
  expect(originPolicy({ fetch: 'browser' }, settings({ fetch: 'http' })).fetch).toBe('http');
});

test('originPolicy() lowers the default limits for a browser, unless the origins file sets them', () => {
  const plain = originPolicy({}, undefined);
  const browser = originPolicy({}, settings({ fetch: 'browser' }));
  expect(browser.concurrency).toBeLessThan(plain.concurrency);
  expect(browser.requestsPerSecond).toBeLessThan(plain.requestsPerSecond);
  const store = originPolicy(
    { concurrency: 2, requestsPerSecond: 1 },
    settings({ fetch: 'browser' }),
  );
  expect(store).toMatchObject({ concurrency: 2, requestsPerSecond: 1 });
  expect(
    originPolicy({}, settings({ fetch: 'browser', concurrency: 9, requests_per_second: 30 })),
  ).toMatchObject({
    concurrency: 9,
    requestsPerSecond: 30,
  });
});

test.each([
  ['the concurrency', { concurrency: 2_000, requests_per_second: 5_000 }, 2_000],
  [
    'the requests that the rate limit allows in 20 s',
    { concurrency: 2_000, requests_per_second: 3 },
    60,
  ],
  ['at least 1', { concurrency: 5, requests_per_second: 0.01 }, 1],
])('maxConcurrency() returns %s', (_name, given, expected) => {
  expect(maxConcurrency(originPolicy({}, settings(given)))).toBe(expected);
});
