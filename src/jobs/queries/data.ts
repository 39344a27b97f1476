import type { Message } from '@bufbuild/protobuf';
import { Fault } from '../../contract/fault.ts';
import type { JobContext } from '../context.ts';
import type { JobMethod } from '../job-types.ts';
import { type Export, exportFile } from './files.ts';
import { findJob } from './read.ts';
import { requireResults } from './rows.ts';

/** Fields of a request for the result of a unit. */
interface DataRequest extends Export {
  itemToken: string;
}

/** Result of a unit. */
export interface UnitData {
  contentType: string;
  /** Name to save a table under. Null for the file as it is. */
  fileName: string | null;
  bytes: AsyncIterable<Uint8Array>;
}

/**
 * Returns the result file of one unit or, with a format, its records as a table. Its token comes from the
 * retrieve response. Throws `malformed` for a token that does not belong to the job, `not_found` if the unit
 * has no result, `results_deleted`, `unavailable` if the file cannot be read, and those of exportFile().
 */
export async function data(
  context: JobContext,
  method: JobMethod,
  request: Message,
  userId: string,
): Promise<UnitData> {
  const { blobs, links } = context;
  const { itemToken, format, only, columns } = request as unknown as DataRequest;
  const job = await findJob(context, method, request, userId);
  requireResults(job);
  const place = links.readItemToken(job.id, itemToken);
  if (place === null)
    throw new Fault('malformed', `'${itemToken.slice(0, 80)}' is not the token of an item of this job.`);
  const outcome = await outcomeOf(context, job.id, place);
  if (outcome?.status !== 'SUCCESS' || !outcome.file)
    throw new Fault('not_found', 'This item has no result.');
  const { path, contentType } = outcome.file;
  if ([format, only, columns].some((value) => value !== ''))
    return exportFile(context, path, { format, only, columns });
  return { contentType, fileName: null, bytes: await blobs.read(path).catch(throwUnavailable) };
}

/**
 * Reports a file that was written but is missing as `unavailable`: the storage is at fault, not the caller.
 */
function throwUnavailable(error: unknown): never {
  const fault = Fault.from(error);
  if (fault.code !== 'not_found') throw fault;
  throw new Fault('unavailable', 'The result of this item could not be fetched.', { cause: error });
}

async function outcomeOf({ store }: JobContext, jobId: string, place: { batchId: string; index: number }) {
  for await (const batch of store.batches.read(jobId)) {
    if (batch.id === place.batchId) return batch.outcomes[place.index];
  }
  return undefined;
}
