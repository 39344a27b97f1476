import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { SubmitSearchBulkRequestSchema as SearchesOfB } from '../../gen/gleaner/mktb/v1/mktb_pb.ts';
import { SubmitPdpBulkRequestSchema as PagesOfC } from '../../gen/gleaner/mktc/v1/mktc_pb.ts';
import { SubmitPdpBulkRequestSchema as PagesOfD } from '../../gen/gleaner/mktd/v1/mktd_pb.ts';
import { SubmitSearchBulkRequestSchema as SearchesOfE } from '../../gen/gleaner/mkte/v1/mkte_pb.ts';
import { SubmitSearchBulkRequestSchema as SearchesOfF } from '../../gen/gleaner/mktf/v1/mktf_pb.ts';
import { createTestMarket } from '../../test/support/pages/market.ts';
import type { Fault } from '../contract/fault.ts';
import type { Market } from '../markets/market.ts';
import { byRegion, type Identity, identify, inOrder, planItems } from './items.ts';

const market = (regions: string[], parseUrl?: Market['parseUrl']): Market =>
  createTestMarket({ regions, ...(parseUrl ? { parseUrl } : {}) });

function problemsOf(plan: () => unknown): unknown[] {
  try {
    plan();
  } catch (error) {
    return (error as Fault).problems.map(({ loc, type }) => [loc, type]);
  }
  return [];
}

describe('planItems()', () => {
  test('uses the request’s field names and the contract’s defaults', () => {
    const request = create(SearchesOfB, {
      items: [
        { keyword: 'kopi' },
        { keyword: '9', listType: 'category', category: 'dapur', pmin: 0, productLimit: 3 },
      ],
    });
    const { groups, params, region } = planItems(request, SearchesOfB, market(['id']), inOrder);
    expect(groups).toEqual([
      {
        region: 'id',
        units: [
          { key: 'kopi', input: { list_type: 'search', keyword: 'kopi', product_limit: 5000 } },
          {
            key: '9',
            input: {
              list_type: 'category',
              keyword: '9',
              category: 'dapur',
              pmin: 0,
              product_limit: 3,
            },
          },
        ],
      },
    ]);
    expect(region).toBe('');
    expect(params.identity).toEqual([
      { name: 'list_type', from: 'list_type', numbered: false },
      { name: 'keyword', from: 'keyword', numbered: false },
    ]);
  });

  test('identifies units by names that differ per marketplace', () => {
    const request = create(PagesOfC, { items: [{ formattedId: 'p', sku: 's', id: '9' }] });
    const { groups, params } = planItems(request, PagesOfC, market(['id']), inOrder);
    const [unit] = groups[0]!.units;
    expect(unit!.input).toEqual({ formattedId: 'p', sku: 's', id: '9' });
    expect(identify(unit!, params.identity as unknown as Identity, 1)).toEqual({
      formattedId: 'p',
      sku: 's',
      pickupPointCode: null,
      item_id: '9',
    });
  });

  test('groups units by country in order of first occurrence and keeps duplicates', () => {
    const items = ['th', 'my', 'th', 'th'].map((country, at) => ({
      productId: String(at % 3),
      country,
    }));
    const request = create(PagesOfD, { items });
    const { groups } = planItems(request, PagesOfD, market(['th', 'my']), byRegion);
    expect(groups.map(({ region, units }) => [region, units.map(({ key }) => key)])).toEqual([
      ['th', ['0', '2', '0']],
      ['my', ['1']],
    ]);
  });

  test('groups only adjacent units if the order matters', () => {
    const unit = (key: string) => ({ key, input: {} });
    const units = ['a', 'a', 'b', 'a'].map((region, at) => ({ unit: unit(String(at)), region }));
    expect(
      inOrder(units).map(({ region, units: its }) => [region, its.map(({ key }) => key)]),
    ).toEqual([
      ['a', ['0', '1']],
      ['b', ['2']],
      ['a', ['3']],
    ]);
  });
});

describe('the region of a unit', () => {
  const regionsOf = (regions: string[]) => {
    const request = create(SearchesOfB, { items: [{ keyword: 'kopi' }] });
    return planItems(request, SearchesOfB, market(regions), inOrder).groups.map(
      ({ region }) => region,
    );
  };

  test('is the only region of its market', () => {
    expect(regionsOf(['id'])).toEqual(['id']);
  });

  test('is empty if the item names no country and the market has several regions or none', () => {
    expect(regionsOf(['id', 'sg'])).toEqual(['']);
    expect(regionsOf([])).toEqual(['']);
  });
});

test('planItems() parses a URL as a listing of the market', () => {
  const asked: unknown[] = [];
  const known = market(['id'], (page, url) => {
    asked.push([page, url]);
    return { input: {}, region: 'id', type: 'search' };
  });
  const request = create(SearchesOfF, { items: [{ url: 'https://store.test/a' }] });
  expect(planItems(request, SearchesOfF, known, inOrder).groups).toHaveLength(1);
  expect(asked).toEqual([['search', 'https://store.test/a']]);
});

describe('planItems() rejects', () => {
  test('a category without its category, for marketplaces that require one', () => {
    const items = [{ keyword: 'kopi' }, { keyword: '9', listType: 'category' }];
    const ofB = create(SearchesOfB, { items });
    expect(problemsOf(() => planItems(ofB, SearchesOfB, market(['id']), inOrder))).toEqual([
      [['body', 'items', 1, 'category'], 'missing'],
    ]);
  });

  test('an input that the market refuses, once per field', () => {
    const items = [{ keyword: '9' }, { keyword: 'nine' }, { keyword: ' ' }];
    const strict: Market = {
      ...market(['id']),
      problemOf: ({ keyword }) =>
        /^\d+$/.test(String(keyword)) ? null : { name: 'keyword', msg: 'no number' },
    };
    const request = create(SearchesOfB, { items });
    expect(problemsOf(() => planItems(request, SearchesOfB, strict, inOrder))).toEqual([
      [['body', 'items', 1, 'keyword'], 'value_error'],
      [['body', 'items', 2, 'keyword'], 'string_too_short'],
    ]);
  });

  test('returns a message for each problem', () => {
    const items = [{ keyword: ' ', listType: 'category' }];
    const plan = () =>
      planItems(create(SearchesOfB, { items }), SearchesOfB, market(['id']), inOrder);
    const messages = ['String should not be blank', 'Field required when list_type is category'];
    expect(plan).toThrow(
      expect.objectContaining({
        code: 'invalid',
        problems: messages.map((msg) => expect.objectContaining({ msg })),
      }),
    );
  });

  test('blank text in a required field', () => {
    const request = create(PagesOfC, {
      items: [{ formattedId: ' \t', sku: 's', pickupPointCode: ' ' }],
    });
    expect(problemsOf(() => planItems(request, PagesOfC, market(['id']), inOrder))).toEqual([
      [['body', 'items', 0, 'formattedId'], 'string_too_short'],
    ]);
  });

  test('every URL that the market cannot parse, up to 100', () => {
    const parseUrl = () => {
      throw new Error('no store');
    };
    const request = create(SearchesOfF, { items: new Array(150).fill({ url: 'x' }) });
    const problems = problemsOf(() =>
      planItems(request, SearchesOfF, market([], parseUrl), inOrder),
    );
    expect(problems).toHaveLength(100);
    expect(problems[99]).toEqual([['body', 'items', 99, 'url'], 'url_parsing']);
  });
});

test('identify() numbers a keyword by its position', () => {
  const items = [{ listType: 'search', keyword: '  desk   lamp ', country: 'us' }];
  const { groups, params } = planItems(
    create(SearchesOfE, { items }),
    SearchesOfE,
    market(['us']),
    inOrder,
  );
  const [unit] = groups[0]!.units;
  const shown = identify(unit!, params.identity as unknown as Identity, 3);
  expect(shown).toMatchObject({ keyword: 'desk_lamp_3', list_type: 'search' });
  expect(unit!.input.pages).toBe(0);
});
