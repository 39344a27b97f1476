import { expect, test } from 'vitest';
import type { FetchMethod } from '../fetch/policy.ts';
import { sandboxQueue } from '../jobs/sandbox.ts';
import { sampleMessage } from '../queue/conformance.ts';
import { createPlaces, ownersOf } from './places.ts';

const policies: [
  title: string,
  rate: number,
  concurrency: number,
  owners: number,
  fetch?: FetchMethod,
][] = [
  ['the default policy', 20, 8, 1],
  ['a slow origin with many requests at once', 20, 2_000, 1],
  ['twice what a process sends', 200, 256, 2],
  ['a rate that the concurrency does not reach', 5_000, 16, 4],
  ['a very large origin', 1_000_000, 50_000, 64],
  ['a request an hour', 1 / 3_600, 1, 1],
  ['the default policy of a browser', 2, 4, 1, 'browser'],
  ['twenty pages a second in browsers', 20, 16, 10, 'browser'],
];

test.each(policies)(
  '%s has its number of owners',
  (_title, requestsPerSecond, concurrency, owners, fetch = 'http') => {
    expect(ownersOf({ requestsPerSecond, concurrency, robots: false, fetch })).toBe(owners);
  },
);

test.each([
  ['a region', { market: 'mkta', region: 'id' }, 'mkta/id'],
  ['a store', { market: 'mktf', region: '', store: 'shop.example:8080' }, 'mktf/shop.example:8080'],
])('the place of a message is %s', (_title, message, name) => {
  expect(createPlaces(new Map())(sampleMessage(1, message))).toEqual({ name, owners: 1 });
});

test.each([
  ['of the sandbox', { market: sandboxQueue }],
  ['of several units of stores', { market: 'mktf', region: '' }],
])('a message %s has no place', (_title, message) => {
  expect(createPlaces(new Map())(sampleMessage(1, message))).toBeNull();
});
