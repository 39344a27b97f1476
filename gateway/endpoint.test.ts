import { describe, expect, test } from 'vitest';
import { isStable } from './endpoint.ts';
import { shopMessage } from './fixture/shop.ts';

describe('isStable()', () => {
  const isLink = ({ name }: { name: string }) => name === 'label_url';

  test('is true for a type without volatile fields, also for one that contains itself', () => {
    expect(isStable(shopMessage('Order'), isLink)).toBe(true);
    expect(isStable(shopMessage('PlaceOrderRequest'), isLink)).toBe(true);
  });

  test('is false for a type with a volatile field, also in a message inside it', () => {
    expect(isStable(shopMessage('Parcel'), isLink)).toBe(false);
    expect(isStable(shopMessage('Order'), ({ name }) => name === 'item_id')).toBe(false);
  });
});
