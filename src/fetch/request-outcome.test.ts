import { expect, test } from 'vitest';
import { Fault, type FaultCode } from '../contract/fault.ts';
import { classifyFault, classifyStatus, describePauseReason } from './request-outcome.ts';

test.each([
  ['page_not_found', 'succeeded'],
  ['page_mismatch', 'succeeded'],
  ['page_private', 'succeeded'],
  ['page_blocked', 'refused'],
  ['page_login', 'refused'],
  ['page_throttled', 'refused'],
  ['page_timeout', 'failed'],
  ['network', 'failed'],
  ['page_failed', 'failed'],
  ['page_unreadable', 'inconclusive'],
  ['page_empty', 'inconclusive'],
  ['page_too_large', 'inconclusive'],
  ['page_region', 'inconclusive'],
  ['origin_paused', 'not_sent'],
  ['robots_disallowed', 'not_sent'],
  ['address_refused', 'not_sent'],
  ['proxy_failed', 'not_sent'],
  ['unavailable', 'not_sent'],
  ['internal', 'not_sent'],
] as [FaultCode, string][])('classifyFault() classifies %s as %s', (code, kind) => {
  expect(classifyFault(new Fault(code, 'x')).kind).toBe(kind);
});

test('classifyFault() treats throttling with a duration as an explicit request', () => {
  expect(classifyFault(new Fault('page_throttled', 'x', { retryAfterMs: 5 }))).toMatchObject({
    explicit: true,
    waitMs: 5,
  });
  expect(classifyFault(new Fault('page_throttled', 'x'))).toMatchObject({ explicit: false });
  expect(classifyFault(new Fault('page_blocked', 'x', { retryAfterMs: 5 }))).toMatchObject({
    explicit: false,
    waitMs: 5,
  });
});

test.each([
  [429, {}, { explicit: true, waitMs: undefined }],
  [429, { 'retry-after': '3' }, { explicit: true, waitMs: 3_000 }],
  [430, {}, { explicit: true }],
  [503, { 'retry-after': '1' }, { explicit: true, waitMs: 1_000 }],
  [503, {}, null],
  [403, {}, null],
  [200, { 'retry-after': '9' }, null],
])('classifyStatus() classifies status %d with %j', (status, headers, expected) => {
  const response = { status, headers, body: Buffer.alloc(0), url: '', at: 0 };
  const outcome = classifyStatus(response as Parameters<typeof classifyStatus>[0], 0);
  if (expected === null) expect(outcome).toBeNull();
  else expect(outcome).toMatchObject({ kind: 'refused', reason: `status ${status}`, ...expected });
});

test.each([
  ['page_blocked', 'blocked (page_blocked)'],
  ['page_login', 'blocked (page_login)'],
  ['page_throttled', 'throttled (page_throttled)'],
  ['status 429', 'throttled (status 429)'],
  ['network', 'not responding (network)'],
])('describePauseReason() describes %s as %s', (reason, words) => {
  expect(describePauseReason(reason)).toBe(words);
});
