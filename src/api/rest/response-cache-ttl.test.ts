import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { shopMessage } from '../../../gateway/fixture/shop.ts';
import { BulkRetrievedSchema } from '../../../gen/gleaner/job/v1/bulk_pb.ts';
import { retrieveRetention } from './rest.ts';

const retention = retrieveRetention({ processingMs: 120_000, completedMs: 86_400_000 });
const short = { ms: 120_000, isFinal: false };
const long = { ms: 86_400_000, isFinal: true };

describe('retrieveRetention()', () => {
  test.each([
    ['a running job', { status: 'processing' }, short],
    ['a completed job', { status: 'completed', downloadUrl: 'https://x' }, long],
    ['a completed job whose file is not available yet', { status: 'completed' }, short],
    ['a running job with a link', { status: 'processing', downloadUrl: 'https://x' }, short],
  ])('returns the retention of %s', (_which, fields, expected) => {
    const schema = BulkRetrievedSchema;
    expect(retention(schema)(create(schema, fields))).toEqual(expected);
  });

  test('caches a completed job for long if its type has no link', () => {
    const order = shopMessage('Order');
    expect(retention(order)(create(order, { status: 'completed' }))).toEqual(long);
  });

  test('throws for a type without a status', () => {
    expect(() => retention(shopMessage('Line'))).toThrow(/status/);
  });
});
