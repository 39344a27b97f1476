import { describe, expect, test } from 'vitest';
import { markets } from '../markets/list.ts';
import { aJob } from '../store/conformance/samples.ts';
import { kinds } from './list.ts';

const approved = { approval: true, workingHours: true, statusFrom: 'batches' };
const bulk = {
  lane: 'bulk',
  approval: false,
  workingHours: false,
  charge: 'submit',
  statusFrom: 'units',
  unqueued: 'refund',
  submittedNeeds: [],
};

/** Properties of each kind as documented in docs/marketplaces.md. */
const rules: Record<string, object> = {
  variant_sold: { ...bulk, ...approved, page: 'variants', batchSize: 50, charge: 'approval' },
  get_pc: {
    ...bulk,
    page: 'product',
    lane: 'single',
    batchSize: 1,
    unqueued: 'refuse',
    sequence: 'task',
  },
  get_pc_bulk: { ...bulk, page: 'product', batchSize: 50, sequence: 'task' },
  search_items: { ...bulk, ...approved, page: 'search', batchSize: 1 },
  merchant_items: { ...bulk, ...approved, page: 'merchant', batchSize: 1 },
  pdp_bulk: { ...bulk, page: 'product', batchSize: 50 },
  search_bulk: { ...bulk, page: 'search', batchSize: 1, submittedNeeds: ['units'] },
  merchant_bulk: { ...bulk, page: 'merchant', batchSize: 1, submittedNeeds: ['units'] },
};

const kindOf = (name: string) => kinds.find((kind) => kind.name === name)!;

describe('kinds', () => {
  test('have one entry per name', () => {
    expect(kinds.map(({ name }) => name)).toEqual(Object.keys(rules).toSorted());
  });

  test.each(kinds.map((kind) => [kind.name, kind] as const))(
    '%s follows its rules',
    (name, kind) => {
      expect(kind).toMatchObject(rules[name]!);
    },
  );

  test.each([
    ['variant_sold', 'mkta', 10],
    ['get_pc', 'mkta', 8],
    ['get_pc_bulk', 'mkta', 8],
    ['search_items', 'mkta', 6],
    ['merchant_items', 'mkta', 6],
    ['pdp_bulk', 'mktc', 5],
    ['search_bulk', 'mktb', 6],
    ['search_bulk', 'mktf', 1],
    ['merchant_bulk', 'mktb', 6],
  ])('%s of %s costs %i credits per unit', (name, market, credits) => {
    const { page, price } = kindOf(name);
    expect(markets.find((each) => each.name === market)!.prices?.[page] ?? price).toBe(credits);
  });

  test.each([
    ['variant_sold', 'retrieve', ['batches']],
    ['variant_sold', 'download', ['counts']],
    ['variant_sold', 'item', [{ unit: 'itemId' }]],
    ['get_pc', 'retrieve', ['only']],
    ['get_pc_bulk', 'retrieve', ['counts']],
    ['search_items', 'retrieve', ['units']],
    ['merchant_items', 'retrieve', ['units']],
    ['pdp_bulk', 'retrieve', ['counts', 'failures']],
    ['search_bulk', 'retrieve', ['units']],
    ['merchant_bulk', 'retrieve', ['units']],
  ])('%s: the view %s needs the fields %j', (name, view, needs) => {
    expect(kindOf(name).views[view]!.needs).toEqual(needs);
  });

  test.each([
    ['variant_sold', 'batch', 'application/json', false, false],
    ['variant_sold', 'job', 'application/json', false, false],
    ['get_pc_bulk', 'job', 'text/csv; charset=utf-8', false, true],
    ['pdp_bulk', 'job', 'application/gzip', true, false],
  ] as const)('%s: the %s file is %s', (name, part, contentType, gzip, whenAllFailed) => {
    const file = kindOf(name).files[part]!;
    expect(file).toMatchObject({ gzip, whenAllFailed });
    expect(file.contentType(aJob())).toBe(contentType);
  });

  test.each(['search_items', 'merchant_items', 'search_bulk', 'merchant_bulk'])(
    '%s: the file of a unit is JSON',
    (name) => {
      expect(kindOf(name).files.unit!.contentType).toBe('application/json');
    },
  );
});
