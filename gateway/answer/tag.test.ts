import { describe, expect, test } from 'vitest';
import { VariantSoldRetrievedSchema } from '../../gen/gleaner/job/v1/variant_sold_pb.ts';
import { shopMessage } from '../fixture/shop.ts';
import { isStable, textTag } from './tag.ts';

describe('textTag()', () => {
  test('is weak, and differs by text', () => {
    expect(textTag('a')).toMatch(/^W\/"[\w-]{22}"$/);
    expect(textTag('a')).toBe(textTag('a'));
    expect(textTag('a')).not.toBe(textTag('b'));
  });
});

describe('isStable()', () => {
  test('is true for a type without links, also for one that contains itself', () => {
    expect(isStable(shopMessage('Order'))).toBe(true);
    expect(isStable(shopMessage('PlaceOrderRequest'))).toBe(true);
  });

  test('is false for a type with a signed link', () => {
    expect(isStable(shopMessage('Progress'))).toBe(false);
    // Its batches have the links.
    expect(isStable(VariantSoldRetrievedSchema)).toBe(false);
  });
});
