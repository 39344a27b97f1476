import { describe, expect, test } from 'vitest';
import { contextWith } from '../../test/support/jobs/context.ts';
import { services } from '../contract/services.ts';
import { kinds } from '../kinds/list.ts';
import { markets } from '../markets/list.ts';
import type { JobSettings } from './context.ts';
import { findUnknownPrice, listKindPrices } from './credits.ts';
import { resolveJobTypes } from './job-types.ts';

const jobTypes = resolveJobTypes(services, kinds, markets);
const settingsWith = (changes: Partial<JobSettings>) =>
  ({
    approval: true,
    workingHours: null,
    prices: new Map(),
    reusedPricePercent: 50,
    ...changes,
  }) as JobSettings;
const priced = (changes: Partial<JobSettings>) => {
  const list = listKindPrices(contextWith({ jobTypes, settings: settingsWith(changes) }));
  return (market: string, kind: string) =>
    list.find((each) => each.market === market && each.kind === kind);
};

describe('findUnknownPrice()', () => {
  const find = (...names: string[]) =>
    findUnknownPrice(new Map(names.map((name) => [name, 1])), jobTypes);

  test('accepts kinds, also of one market', () => {
    expect(find()).toBeNull();
    expect(find('pdp_bulk', 'mktb.pdp_bulk', 'sites.search_bulk')).toBeNull();
  });

  test.each([
    ['variants_sold', 'no job has the kind "variants_sold". Did you mean variant_sold?'],
    ['mktd.search_bulk', 'no job has the kind "mktd.search_bulk". Did you mean mktb.search_bulk?'],
    [
      'mktb',
      'no job has the kind "mktb". ' +
        'Did you mean mktb.pdp_bulk, mktb.search_bulk, or mktb.merchant_bulk?',
    ],
    ['kiosk', 'no job has the kind "kiosk".'],
  ])('names %s', (name, message) => {
    expect(find('pdp_bulk', name)).toBe(message);
  });
});

describe('listKindPrices()', () => {
  test('has the limits of the contract and of the kind', () => {
    const priceOf = priced({});
    expect(priceOf('mkta', 'variant_sold')).toMatchObject({ maxUnits: 50_000, maxBatchUnits: 50 });
    expect(priceOf('mkta', 'get_pc')).toMatchObject({ maxUnits: 1, maxBatchUnits: 1 });
    expect(priceOf('mkta', 'get_pc_bulk')).toMatchObject({
      maxUnits: 2_000,
      maxBatchUnits: 50,
      unitPrice: 8,
      reusedUnitPrice: 4,
    });
    expect(priceOf('mktf', 'search_bulk')).toMatchObject({
      unitPrice: 1,
      reusedUnitPrice: 1,
      regions: [],
    });
  });

  test('has a maximum of units and a price for every job type', () => {
    const list = listKindPrices(contextWith({ jobTypes, settings: settingsWith({}) }));
    expect(list.length).toBeGreaterThan(10);
    expect(list.filter(({ maxUnits, unitPrice }) => !(maxUnits > 0 && unitPrice > 0))).toEqual([]);
  });

  test('follows the settings for approval, working hours, and prices', () => {
    const workingHours = { startMinute: 480, endMinute: 1080, offsetMinutes: 480 };
    const prices = new Map([['variant_sold', 3]]);
    expect(priced({ workingHours, prices })('mkta', 'variant_sold')).toMatchObject({
      unitPrice: 3,
      needsApproval: true,
      chargedAt: 'approval',
      inWorkingHours: true,
    });
    expect(priced({ approval: false })('mkta', 'variant_sold')).toMatchObject({
      unitPrice: 10,
      needsApproval: false,
      chargedAt: 'submit',
      inWorkingHours: false,
    });
  });
});
