import { create, toJson } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { DeliverySchema } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { ItemValuesSchema } from '../../../gen/gleaner/history/v1/history_pb.ts';
import { toMessage } from './to-message.ts';

describe('toMessage()', () => {
  test('sets the fields that a document has, and neither omitted nor unknown ones', () => {
    const message = toMessage(
      DeliverySchema,
      'error',
    )({
      deliveryId: 'd1',
      error: 'omitted',
      secret: 'unknown',
      jobId: null,
      attempts: 2,
      createdAt: 1_750_000_000_123,
    });
    expect(message).toEqual({
      deliveryId: 'd1',
      attempts: 2,
      createdAt: expect.objectContaining({ seconds: 1_750_000_000n, nanos: 123_000_000 }),
    });
  });

  test('converts 64-bit numbers and lists of messages', () => {
    const variants = [{ id: 'a', name: null, price: 1.5, stock: 4 }];
    const values = { title: 'Lamp', stock: 9, sold: null, variants };
    const message = create(ItemValuesSchema, toMessage(ItemValuesSchema)(values));
    expect(toJson(ItemValuesSchema, message)).toMatchObject({
      title: 'Lamp',
      stock: '9',
      variants: [{ id: 'a', price: 1.5, stock: '4' }],
    });
  });
});
