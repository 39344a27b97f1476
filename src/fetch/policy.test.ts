import { expect, test } from 'vitest';
import { parseOrigins } from '../base/origins.ts';
import { fetchSortOf, originPolicy, requestsAtOnce } from './policy.ts';

const settings = (given: object) => parseOrigins(JSON.stringify({ mkta: given })).get('mkta');

test('pages come by plain requests unless the origins file names the browser', () => {
  expect(fetchSortOf(undefined)).toBe('http');
  expect(fetchSortOf(settings({ sg: 'http://a' }))).toBe('http');
  expect(fetchSortOf(settings({ fetch: 'browser' }))).toBe('browser');
});

test('an origin whose pages are opened in a browser is asked more gently, unless the file says how', () => {
  const plain = originPolicy({}, undefined);
  const opened = originPolicy({}, settings({ fetch: 'browser' }));
  expect(opened.concurrency).toBeLessThan(plain.concurrency);
  expect(opened.requestsPerSecond).toBeLessThan(plain.requestsPerSecond);
  const store = originPolicy({ concurrency: 2, requestsPerSecond: 1 }, settings({ fetch: 'browser' }));
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
  ['what the rate limit lets add up in 20 s', { concurrency: 2_000, requests_per_second: 3 }, 60],
  ['at least one', { concurrency: 5, requests_per_second: 0.01 }, 1],
])('requestsAtOnce() returns %s', (_name, given, expected) => {
  expect(requestsAtOnce(originPolicy({}, settings(given)))).toBe(expected);
});
