import type { ListPage, ListSummary } from '../../markets/market.ts';
import type { Batch, Job, StoredFile } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';

/** Dependencies of this module. */
export type UnitFileContext = Pick<JobContext, 'blobs' | 'clock' | 'offers'>;

/**
 * Writes the result file of one listing while its pages arrive, so that memory is bounded by one page. A listing that
 * fails leaves no file.
 */
export async function writeUnitFile(
  context: UnitFileContext,
  job: Job,
  batch: Batch,
  index: number,
  pages: AsyncGenerator<ListPage, ListSummary, void>,
): Promise<StoredFile> {
  const { kind, result } = context.offers.of(job);
  const pack = kind.files.unit;
  if (!pack) throw new Error(`${job.kind} has no unit file`);
  const place = { job, batch, collectedAt: Math.floor(context.clock.now() / 1000), result };
  let entries = 0;
  async function* chunks() {
    entries = yield* pack!.chunks(pages, batch.units[index]!, place);
  }
  return context.blobs.write(`${job.id}/${pack.name(job, batch)}`, pack.contentType, chunks(), () => entries);
}
