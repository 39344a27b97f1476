import { random } from '../random.ts';
import { type Generation, listMembers } from './cards.ts';
import { fakeItem } from './item.ts';

/** Results of a keyword or category. Its last three digits select special forms (README.md). */
interface Results {
  generation: Generation;
  size: number;
  firstId: number;
}

function results(region: string, subject: string): Results {
  const draw = random(`${region}/search/${subject}`);
  const size = draw.integer(70, 330);
  const firstId = 20_000_000_000 + draw.integer(0, 1_000_000) * 1_000;
  const generation = draw.pick([1, 2, 3] as const);
  switch (subject.slice(-3)) {
    case '000':
      return { generation, size: 0, firstId };
    case '001':
      return { generation: 1, size: 130, firstId };
    case '002':
      return { generation: 2, size: 130, firstId };
    case '003':
      return { generation: 3, size: 130, firstId };
    case '004':
      return { generation, size: 176, firstId };
    case '006':
      return { generation: 2, size: 7, firstId };
    default:
      return { generation, size, firstId };
  }
}

/**
 * Returns the offset of a page's first product. Listings shift while they are read, so each page
 * repeats two products.
 */
function start(offset: number, limit: number): number {
  return offset - 2 * Math.floor(offset / limit);
}

/**
 * Returns the response to a search or category. It has no items if the request lacks parameters
 * that the site's own pages send. Digits 004: the listing ends with a full, unmarked page; 005:
 * every page repeats the first; 007: every price is impossible.
 */
export function searchResponse(region: string, query: URLSearchParams): string {
  const category = query.get('match_id');
  const subject = category ?? query.get('keyword') ?? '';
  const scenario = category === null ? 'PAGE_GLOBAL_SEARCH' : 'PAGE_CATEGORY';
  const isComplete =
    query.get('scenario') === scenario &&
    query.get('page_type') === 'search' &&
    query.get('version') === '2';
  const { generation, size, firstId } = results(region, subject);
  const limit = Math.min(Number(query.get('limit') ?? 30), 60);
  const offset = subject.endsWith('005') ? 0 : Number(query.get('newest') ?? 0);
  const first = start(offset, limit);
  const count = isComplete ? Math.max(0, Math.min(limit, size - first)) : 0;
  const items = Array.from({ length: count }, (_, at) => {
    const index = first + at;
    return fakeItem(region, firstId + index, 1_000_000 + ((firstId / 1_000 + index) % 900));
  });
  if (subject.endsWith('007'))
    for (const { models } of items) models.unshift({ ...models[0]!, price: 1 });
  const members = listMembers(items, generation, false);
  const silent = subject.endsWith('004') || subject.endsWith('005');
  const response = {
    error: null,
    total_count: size * 1_000,
    ...(silent ? {} : { nomore: first + limit >= size }),
    ...members,
  };
  const text = JSON.stringify(generation === 1 ? { ...response, version: 'x' } : response);
  return subject.endsWith('007') ? text.replaceAll(/"price_max":\d+/g, '"price_max":1') : text;
}
