import { random } from '../random.ts';
import { type Generation, listedItems, listMembers } from './cards.ts';
import { type FakeItem, fakeItem } from './item.ts';

/** Items of a shop. Its last three digits select special forms (README.md). */
interface Shop {
  generation: Generation;
  active: FakeItem[];
  soldOut: FakeItem[];
}

function size(
  region: string,
  shopId: number,
): { active: number; soldOut: number; generation: Generation } {
  const draw = random(`${region}/shop/${shopId}`);
  const active = draw.integer(20, 260);
  const soldOut = draw.integer(0, 130);
  const generation = draw.pick([2, 3] as const);
  switch (shopId % 1000) {
    case 0:
      return { active: 0, soldOut: 0, generation };
    case 1:
      return { active: 130, soldOut: 0, generation };
    case 2:
      return { active: 0, soldOut: 130, generation };
    case 3:
      return { active: 130, soldOut: 20, generation: 2 };
    case 4:
      return { active: 130, soldOut: 20, generation: 3 };
    case 5:
      return { active: 130, soldOut: 20, generation: 1 };
    default:
      return { active, soldOut, generation };
  }
}

function shop(region: string, shopId: number): Shop {
  const { active, soldOut, generation } = size(region, shopId);
  const item = (at: number): FakeItem => fakeItem(region, shopId * 1_000 + at, shopId);
  const all = Array.from({ length: active + soldOut }, (_, at) => item(at));
  return {
    generation,
    active: all.slice(0, active).map((one) => ({ ...one, soldOut: false })),
    soldOut: all.slice(active).map((one) => ({ ...one, soldOut: true, stock: 0 })),
  };
}

/** Returns a page of a list that shifts while it is read: each page repeats one item. */
function page(
  items: readonly FakeItem[],
  query: URLSearchParams,
): { items: FakeItem[]; last: boolean } {
  const limit = Math.min(Number(query.get('limit') ?? 30), 100);
  const offset = Number(query.get('offset') ?? 0);
  const first = offset - Math.floor(offset / limit);
  return { items: items.slice(first, first + limit), last: first + limit >= items.length };
}

/**
 * Returns the response of the shop's search. `filter_sold_out` is 1 for sold-out items, 2 for the
 * others, 3 for both.
 */
export function shopSearch(region: string, query: URLSearchParams): string {
  const { generation, active, soldOut } = shop(region, Number(query.get('shopid')));
  const listings: Record<string, FakeItem[]> = {
    1: soldOut,
    2: active,
    3: [...active, ...soldOut],
  };
  const listing = listings[query.get('filter_sold_out') ?? '2'] ?? [];
  const { items, last } = page(listing, query);
  return JSON.stringify({
    error: 0,
    error_msg: '',
    total_count: listedItems(listing).length,
    nomore: last,
    ...listMembers(items, generation, true),
  });
}

/** Returns the shop's active items. As on the site's tabs, the last one is a sold-out item. */
export function shopActive(region: string, query: URLSearchParams): string {
  const { generation, active, soldOut } = shop(region, Number(query.get('shop_id')));
  const isTab = query.get('bundle') === 'shop_page_category_tab_main';
  const listing = isTab ? [...active, ...soldOut.slice(0, 1)] : [];
  const { items, last } = page(listing, query);
  const members = generation === 1 ? sections(items) : listMembers(items, generation, true);
  const data = { total: listedItems(listing).length, no_more: last, ...members };
  return JSON.stringify({ error: 0, error_msg: '', data });
}

/** Returns the list in the form of older recommendations. */
function sections(items: readonly FakeItem[]): object {
  const { items: item } = listMembers(items, 1, true) as { items: object[] };
  return { sections: [{ key: 'shop', data: { item } }] };
}
