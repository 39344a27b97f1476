import type { Fault } from '../base/fault.ts';
import type { JsonObject } from '../base/json.ts';
import type { ListPage, ListSummary } from '../markets/market.ts';
import type { Batch, Job } from '../store/documents.ts';
import type { JobContext } from './context.ts';

/** Shows what comes of one unit's pages to those who watch for fields that go missing. */
export interface DriftObserver {
  record(record: JsonObject): void;
  /** The pages of a listing as they pass. */
  pages(pages: AsyncGenerator<ListPage, ListSummary, void>): AsyncGenerator<ListPage, ListSummary, void>;
  fault(fault: Fault): void;
}

/** Looks at the pages of one unit. */
export function createDriftObserver(
  { drift, offers }: JobContext,
  job: Job,
  batch: Batch,
  index: number,
): DriftObserver {
  const { market, region } = batch;
  const { page } = offers.of(job).kind;
  const unit = { region, input: batch.units[index]!.input };
  return {
    record: (record) => drift.look(market, page, [record], unit),
    async *pages(pages) {
      try {
        let next = await pages.next();
        for (; !next.done; next = await pages.next()) {
          drift.look(market, page, next.value.entries, unit);
          yield next.value;
        }
        return next.value;
      } finally {
        // Whoever reads on no further ends the reading, too.
        await pages.return({});
      }
    },
    fault: ({ code }) => {
      if (code === 'page_unreadable' || code === 'page_empty') drift.watchUnreadable(market, page, unit);
    },
  };
}
