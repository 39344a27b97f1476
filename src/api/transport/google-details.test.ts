import { Code } from '@connectrpc/connect';
import { describe, expect, test } from 'vitest';
import {
  BadRequestSchema,
  ErrorInfoSchema,
  QuotaFailureSchema,
  RetryInfoSchema,
} from '../../../gen/google/rpc/error_details_pb.ts';
import { Fault } from '../../contract/fault.ts';
import { fromConnectError, toConnectError } from './fault-detail.ts';

describe('toConnectError()', () => {
  test('adds an ErrorInfo to every error', () => {
    const error = toConnectError(new Fault('not_found', 'No such job'));
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
      { reason: 'NOT_FOUND', domain: 'gleaner' },
    ]);
    expect(error.findDetails(RetryInfoSchema)).toEqual([]);
    expect(error.findDetails(BadRequestSchema)).toEqual([]);
  });

  test('adds the first 20 problems of an invalid request as a BadRequest, and all to its own detail', () => {
    const problems = Array.from({ length: 30 }, (_, index) => ({
      loc: ['body', 'items', index, 'item_id'],
      msg: 'Field required',
      type: 'missing',
    }));
    const error = toConnectError(new Fault('invalid', 'Invalid', { problems }));
    const [{ fieldViolations } = { fieldViolations: [] }] = error.findDetails(BadRequestSchema);
    expect(fieldViolations).toHaveLength(20);
    expect(fieldViolations[3]).toMatchObject({
      field: 'items[3].item_id',
      description: 'Field required',
      reason: 'MISSING',
    });
    expect(fromConnectError(error).problems).toEqual(problems);
  });

  test('adds a QuotaFailure for missing credits and for a rate limit, with the delay as RetryInfo', () => {
    const broke = toConnectError(
      new Fault('insufficient_credits', 'Too few', { quota: { required: 10, current: 4 } }),
    );
    expect(broke.findDetails(QuotaFailureSchema)).toMatchObject([
      { violations: [{ subject: 'credits', description: '10 credits needed, 4 available' }] },
    ]);
    const quota = { required: 10, current: 400 };
    const above = toConnectError(
      new Fault('max_credits_exceeded', 'More than the maximum of 9.', { quota }),
    );
    expect(above.findDetails(QuotaFailureSchema)).toMatchObject([
      { violations: [{ subject: 'credits', description: 'More than the maximum of 9.' }] },
    ]);
    const limited = toConnectError(
      new Fault('rate_limited', 'Too many requests', { retryAfterMs: 1499.5 }),
    );
    expect(limited.findDetails(QuotaFailureSchema)).toMatchObject([
      { violations: [{ subject: 'requests' }] },
    ]);
    expect(limited.findDetails(RetryInfoSchema)).toMatchObject([
      { retryDelay: { seconds: 1n, nanos: 500_000_000 } },
    ]);
  });

  test('does not invite retries after a conflict', () => {
    expect(toConnectError(new Fault('conflict', 'Ended')).code).toBe(Code.FailedPrecondition);
  });

  test('invites a retry after a conflict that ends by itself', () => {
    const error = toConnectError(new Fault('conflict', 'In progress', { retryAfterMs: 1000 }));
    expect(error.code).toBe(Code.Aborted);
  });
});
