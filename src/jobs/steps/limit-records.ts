import { Fault } from '../../contract/fault.ts';
import { limitsOf } from '../../markets/defaults.ts';
import type { ListPage, ListSummary, Market } from '../../markets/market.ts';

/** Yields the pages of a listing. Fault `page_too_large` when they contain more records than the market allows. */
export async function* limitRecords(
  pages: AsyncGenerator<ListPage, ListSummary, void>,
  market: Market,
): AsyncGenerator<ListPage, ListSummary, void> {
  const { unitRecords } = limitsOf(market);
  let records = 0;
  try {
    let next = await pages.next();
    for (; !next.done; next = await pages.next()) {
      records += next.value.entries.length;
      if (records > unitRecords) {
        const message = `the listing contains more than ${unitRecords} records, the limit of ${market.name}`;
        throw new Fault('page_too_large', message);
      }
      yield next.value;
      // Frees the entries: readers and consumers may still refer to the page while the next one is fetched.
      next.value.entries.length = 0;
    }
    return next.value;
  } finally {
    await pages.return({});
  }
}
