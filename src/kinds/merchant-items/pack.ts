import type { ListPage, ListSummary } from '../../markets/market.ts';
import { prefixFields, type RecordFields } from '../../quality/record-schema.ts';
import type { UnitFilePack } from '../kind.ts';
import { entryLines } from '../listing.ts';

/** Returns the fields of a shop's result file. */
export const shopFields = (page: RecordFields): RecordFields => ({
  collected_at: 'integer',
  success: 'boolean',
  shops: 'object',
  'shops.*.page_url': 'string',
  'shops.*.page_type': 'string',
  'shops.*.page_params.shop_id': 'string',
  'shops.*.items.items': 'array',
  ...prefixFields('shops.*.items.items[]', page),
  'shops.*.items.total_fetched': 'integer',
  'shops.*.items.total_count': 'integer?',
  'shops.*.items.pages_fetched': 'integer',
  'shops.*.items.has_more': 'boolean',
  'shops.*.rcmd_items.items': 'array',
  ...prefixFields('shops.*.rcmd_items.items[]', page),
  'shops.*.rcmd_items.has_more': 'boolean',
  has_more: 'boolean',
});

/** Lists of a shop in the order that readers yield them: sold out, then active. */
const lists = ['items', 'rcmd_items'];

/**
 * Writes a shop's result file (docs/kinds/merchant-items.md): under the submitted URL, the sold-out
 * items with their counts, and the active items. The counts of sold-out items are known only at the
 * end of the reading. So the sold-out items are buffered, and `rcmd_items` is streamed before
 * `items`.
 */
export const shopFile: UnitFilePack = {
  name: ({ market, kind }, { seq, id, attempt }) =>
    `${market}_${kind}_${seq + 1}_${id}_${attempt}.json`,
  contentType: 'application/json',
  head(unit, { collectedAt }) {
    const page = {
      page_url: unit.key,
      page_type: 'shop',
      page_params: { shop_id: unit.input.shop_id ?? null },
    };
    const members = `${text(page).slice(1, -1)},"rcmd_items":{"items":[`;
    return `{"collected_at":${collectedAt},"success":true,"shops":{${text(unit.key)}:{${members}`;
  },
  async *body(pages) {
    const sold = await soldOut(pages);
    const active = yield* remaining(pages, sold.next);
    const { has_more, items_has_more, rcmd_items_has_more, ...summary } = active.summary;
    const counts = {
      total_fetched: sold.entries.length,
      total_count: null,
      pages_fetched: null,
      ...summary,
      has_more: items_has_more,
    };
    yield `\n],"has_more":${text(rcmd_items_has_more)}},"items":{"items":[`;
    yield `${sold.entries.map((entry) => `\n${entry}`).join(',')}\n],`;
    yield `${text(counts).slice(1, -1)}}}},"has_more":${text(has_more)}}\n`;
    return sold.entries.length + active.count;
  },
  async *entries(lines) {
    // Both lists of the file are named `items`. The active items are the first one.
    for await (const { section, text } of entryLines(lines))
      yield { list: section === 0 ? 'rcmd_items' : 'items', text };
  },
};

const text = (value: unknown): string => JSON.stringify(value);

type Pages = AsyncGenerator<ListPage, ListSummary, void>;
type Step = IteratorResult<ListPage, ListSummary>;

/** Buffers the sold-out items as JSON text. They are few compared with the active items. */
async function soldOut(pages: Pages): Promise<{ entries: string[]; next: Step }> {
  const entries: string[] = [];
  for (;;) {
    const next = await pages.next();
    if (next.done || next.value.list !== lists[0]) return { entries, next };
    entries.push(...next.value.entries.map(text));
  }
}

/** Yields the active items while they are read. */
async function* remaining(
  pages: Pages,
  first: Step,
): AsyncGenerator<string, { count: number; summary: ListSummary }> {
  let count = 0;
  for (let next = first; ; next = await pages.next()) {
    if (next.done) return { count, summary: next.value };
    for (const entry of next.value.entries) yield `${count++ === 0 ? '\n' : ',\n'}${text(entry)}`;
  }
}
