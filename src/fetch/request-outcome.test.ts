import { expect, test } from 'vitest';
import { Fault, type FaultCode } from '../contract/fault.ts';
import { inWords, verdictOf, verdictOfStatus } from './request-outcome.ts';

test.each([
  ['page_not_found', 'well'],
  ['page_mismatch', 'well'],
  ['page_private', 'well'],
  ['page_blocked', 'refused'],
  ['page_login', 'refused'],
  ['page_throttled', 'refused'],
  ['page_timeout', 'failed'],
  ['network', 'failed'],
  ['page_failed', 'failed'],
  ['page_unreadable', 'other'],
  ['page_empty', 'other'],
  ['page_too_large', 'other'],
  ['page_region', 'other'],
  ['origin_paused', 'none'],
  ['robots_disallowed', 'none'],
  ['address_refused', 'none'],
  ['proxy_failed', 'none'],
  ['unavailable', 'none'],
  ['internal', 'none'],
] as [FaultCode, string][])('%s is %s', (code, sort) => {
  expect(verdictOf(new Fault(code, 'x')).sort).toBe(sort);
});

test('a throttling that names a time asks for it', () => {
  expect(verdictOf(new Fault('page_throttled', 'x', { retryAfterMs: 5 }))).toMatchObject({
    asked: true,
    waitMs: 5,
  });
  expect(verdictOf(new Fault('page_throttled', 'x'))).toMatchObject({ asked: false });
  expect(verdictOf(new Fault('page_blocked', 'x', { retryAfterMs: 5 }))).toMatchObject({
    asked: false,
    waitMs: 5,
  });
});

test.each([
  [429, {}, { asked: true, waitMs: undefined }],
  [429, { 'retry-after': '3' }, { asked: true, waitMs: 3_000 }],
  [430, {}, { asked: true }],
  [503, { 'retry-after': '1' }, { asked: true, waitMs: 1_000 }],
  [503, {}, null],
  [403, {}, null],
  [200, { 'retry-after': '9' }, null],
])('status %d with %j', (status, headers, expected) => {
  const answer = { status, headers, body: Buffer.alloc(0), url: '', at: 0 };
  const verdict = verdictOfStatus(answer as Parameters<typeof verdictOfStatus>[0], 0);
  if (expected === null) expect(verdict).toBeNull();
  else expect(verdict).toMatchObject({ sort: 'refused', reason: `status ${status}`, ...expected });
});

test.each([
  ['page_blocked', 'blocked (page_blocked)'],
  ['page_login', 'blocked (page_login)'],
  ['page_throttled', 'throttled (page_throttled)'],
  ['status 429', 'throttled (status 429)'],
  ['network', 'not answering (network)'],
])('%s in words is %s', (reason, words) => {
  expect(inWords(reason)).toBe(words);
});
