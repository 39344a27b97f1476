import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../src/base/json.ts';
import { Fault } from '../src/contract/fault.ts';
import { markets } from '../src/markets/list.ts';
import type { PageName } from '../src/markets/market.ts';
import { readMarketPage } from '../test/support/pages/market-pages.ts';
import { origins } from './list.ts';
import { periodicChange, periodMs } from './periodic-changes.ts';
import { startOrigins } from './server.ts';

const start = Date.UTC(2026, 0, 1);
const minutesMs = (count: number) => count * 60_000;
const hoursMs = (count: number) => minutesMs(60 * count);

/** A page of a market in one of its regions, by the digits that its subject ends with. */
interface Page {
  market: string;
  region: string;
  page: PageName;
  input(digits: string): JsonObject;
}

const inputs: Readonly<Record<string, Page['input']>> = {
  mkta: (digits) => ({ item_id: `20000000${digits}`, shop_id: '7001' }),
  mktb: (digits) => ({ shop_domain: 'toko-7', product_key: `barang-${digits}` }),
  mktc: (digits) => ({ formattedId: `ps--GLN-60001-10${digits}`, sku: '' }),
  mktd: (digits) => ({ product_id: `1729000000${digits}` }),
  mkte: (digits) => ({ asin: `B0GLN01${digits}` }),
  mktf: (digits) => ({ url: `https://store.example/collections/lamps-${digits}` }),
  sites: (digits) => ({ url: `https://shop.example/p/10${digits}` }),
};
const pages = origins.flatMap(({ market, regions }) =>
  regions.map(
    (region): Page => ({
      market,
      region,
      page: market === 'mktf' ? 'search' : 'product',
      input: inputs[market]!,
    }),
  ),
);

/** Reads the first tracked item of a page at a time. */
async function read({ market, region, page, input }: Page, digits: string, at: number) {
  const { tracked } = markets.find(({ name }) => name === market)!;
  const [record] = await readMarketPage(
    [market, region, page, input(digits)],
    {},
    periodicChange(digits, at),
  );
  return tracked![page]!(record!)!;
}

/** Reads it in each period of more than one cycle. */
const readPeriods = (page: Page, digits: string) =>
  Promise.all(
    Array.from({ length: 12 }, (_, period) => read(page, digits, start + period * periodMs)),
  );

describe.each(pages)('$market/$region', (page) => {
  test('the price of 920 falls by a twentieth or more in each period, and rises once a cycle', async () => {
    const prices = (await readPeriods(page, '920')).map(({ price }) => price!);
    expect(new Set(prices).size).toBe(11);
    expect(prices[11]).toBe(prices[0]);
    const changes = prices.slice(1).map((price, index) => price / prices[index]!);
    expect(changes.filter((change) => change < 0.95)).toHaveLength(10);
    expect(changes.filter((change) => change > 2)).toHaveLength(1);
  });

  test('921 is in stock and sold out by turns', async () => {
    const items = await readPeriods(page, '921');
    const isAvailable = items.map(({ available }) => available);
    expect(new Set(isAvailable)).toEqual(new Set([true, false]));
    const sameCount = isAvailable.filter((value, index) => value === isAvailable[index + 1]).length;
    expect(sameCount).toBeLessThanOrEqual(1);
  });
});

test.each(pages.filter(({ page }) => page === 'product'))(
  '922 of $market/$region is withdrawn by turns',
  async (page) => {
    const faults = await Promise.all(
      [0, 1, 2].map((period) =>
        read(page, '922', start + period * periodMs).then(
          () => null,
          (error: unknown) => Fault.from(error).code,
        ),
      ),
    );
    expect(new Set(faults)).toEqual(new Set([null, 'page_not_found']));
  },
);

describe('periodicChange()', () => {
  test.each([
    periodMs,
    minutesMs(1),
    minutesMs(5),
    minutesMs(15),
    minutesMs(30),
    hoursMs(1),
    hoursMs(24),
    hoursMs(168),
  ])('returns another price factor after %d ms', (intervalMs) => {
    for (let period = 0; period < 11; period += 1) {
      const at = start + period * periodMs;
      expect(periodicChange('B0GLN01920', at + intervalMs)).not.toEqual(
        periodicChange('B0GLN01920', at),
      );
      expect(periodicChange('B0GLN01920', at + periodMs - 1)).toEqual(
        periodicChange('B0GLN01920', at),
      );
    }
  });

  test.each([undefined, '', '920 lamps', 'B0GLN01919'])('does not change %j', (subject) => {
    expect(periodicChange(subject, start)).toBeUndefined();
  });
});

describe('startOrigins()', () => {
  test.each([
    ['some', true],
    ['none', false],
  ] as const)('with %s faults changes values by itself: %s', async (misbehaviour, isChanged) => {
    let now = start;
    const running = await startOrigins({
      origins: origins.filter(({ market }) => market === 'sites'),
      misbehaviour,
      now: () => now,
    });
    try {
      const read = async () =>
        (await fetch(`${running.address('sites', 'example')}/p/10920`)).text();
      const first = await read();
      expect(await read()).toBe(first);
      now += periodMs;
      expect((await read()) !== first).toBe(isChanged);
      running.changeItem('sites', 'example', '10920', { priceFactor: 1 });
      const changed = await read();
      now += periodMs;
      expect(await read()).toBe(changed);
    } finally {
      await running.stop();
    }
  });
});
