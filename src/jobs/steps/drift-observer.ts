import type { JsonObject } from '../../base/json.ts';
import type { Fault } from '../../contract/fault.ts';
import type { ListPage, ListSummary } from '../../markets/market.ts';
import type { Batch, Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';

/** Dependencies of this module. */
export type DriftObserverContext = Pick<JobContext, 'drift' | 'offers'>;

/** Reports the pages of one unit to the drift watch. */
export interface DriftObserver {
  record(record: JsonObject): void;
  /** Yields the pages of a listing and reports each. */
  pages(pages: AsyncGenerator<ListPage, ListSummary, void>): AsyncGenerator<ListPage, ListSummary, void>;
  fault(fault: Fault): void;
}

/** Observer of the pages of the sandbox, which are no pages of a site. */
const ignoring: DriftObserver = { record: () => {}, pages: (pages) => pages, fault: () => {} };

/** Creates an observer of one unit's pages. */
export function createDriftObserver(
  { drift, offers }: DriftObserverContext,
  job: Job,
  batch: Batch,
  index: number,
): DriftObserver {
  if (job.mode === 'test') return ignoring;
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
        // Closes the reader when the consumer stops early.
        await pages.return({});
      }
    },
    fault: ({ code }) => {
      if (code === 'page_unreadable' || code === 'page_empty') drift.watchUnreadable(market, page, unit);
    },
  };
}
