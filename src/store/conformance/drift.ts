import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import { type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Statistics of listed fields: one record per market and page type, written by revision. */
export function driftConformance(open: OpenStores): void {
  const stores = setUpStores(open);

  test('records are returned as they were stored, by market and page', async () => {
    const [one, other] = [
      { market: 'mkta', page: 'product', revision: 1, state: '{"a.$b":"☃"}' },
      { market: 'mkta', page: 'search', revision: 1, state: '{}' },
    ] as const;
    expect(await stores.store.getDrift('mkta', 'product')).toBeNull();
    expect(await stores.store.putDrift(other)).toBe(true);
    expect(await stores.other.putDrift(one)).toBe(true);
    expect(await stores.store.getDrift('mkta', 'product')).toEqual(one);
    expect(await stores.other.listDrift()).toEqual([one, other]);
  });

  test('a write whose revision does not follow the stored one changes nothing', async () => {
    const market = newId();
    const record = (revision: number, state: string) => ({ market, page: 'search', revision, state });
    expect(await stores.store.putDrift(record(2, 'early'))).toBe(false);
    expect(await stores.store.getDrift(market, 'search')).toBeNull();
    expect(await stores.store.putDrift(record(1, 'first'))).toBe(true);
    expect(await stores.other.putDrift(record(1, 'again'))).toBe(false);
    expect(await stores.store.putDrift(record(3, 'ahead'))).toBe(false);
    expect(await stores.other.putDrift(record(2, 'second'))).toBe(true);
    expect(await stores.store.getDrift(market, 'search')).toEqual(record(2, 'second'));
  });

  test('accepts one of concurrent writers per revision', async () => {
    const market = newId();
    const write = async (revision: number) => {
      const record = (turn: number) => ({ market, page: 'product', revision, state: String(turn) });
      const written = await runConcurrently(12, stores, (store, turn) => store.putDrift(record(turn)));
      expect(written.filter(Boolean)).toHaveLength(1);
      expect((await stores.store.getDrift(market, 'product'))?.state).toBe(String(written.indexOf(true)));
    };
    for (let revision = 1; revision <= 4; revision++) await write(revision);
  });
}
