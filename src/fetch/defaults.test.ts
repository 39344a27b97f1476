import { expect, test } from 'vitest';
import { parseOrigins } from '../base/origins.ts';
import { fetchSortOf, gentleness, requestsAtOnce } from './defaults.ts';

const settings = (given: object) => parseOrigins(JSON.stringify({ mkta: given })).get('mkta');

test('pages come by plain requests unless the origins file names the browser', () => {
  expect(fetchSortOf(undefined)).toBe('http');
  expect(fetchSortOf(settings({ sg: 'http://a' }))).toBe('http');
  expect(fetchSortOf(settings({ fetch: 'browser' }))).toBe('browser');
});

test('an origin whose pages are opened in a browser is asked more gently, unless the file says how', () => {
  const plain = gentleness('mkta', undefined);
  const opened = gentleness('mkta', settings({ fetch: 'browser' }));
  expect(opened.concurrency).toBeLessThan(plain.concurrency);
  expect(opened.requestsPerSecond).toBeLessThan(plain.requestsPerSecond);
  const store = gentleness('mktf', settings({ fetch: 'browser' }));
  expect(store.concurrency).toBeLessThanOrEqual(gentleness('mktf', undefined).concurrency);
  expect(
    gentleness('mkta', settings({ fetch: 'browser', concurrency: 9, requests_per_second: 30 })),
  ).toMatchObject({
    concurrency: 9,
    requestsPerSecond: 30,
  });
});

test.each([
  ['the concurrency', { concurrency: 2_000, requests_per_second: 5_000 }, 2_000],
  ['what the rate limit lets add up in 20 s', { concurrency: 2_000, requests_per_second: 3 }, 60],
  ['at least one', { concurrency: 5, requests_per_second: 0.01 }, 1],
])('requestsAtOnce() returns %s', (_name, given, expected) => {
  expect(requestsAtOnce(gentleness('mkta', settings(given)))).toBe(expected);
});
