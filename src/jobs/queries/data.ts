import { create, type Message } from '@bufbuild/protobuf';
import { HttpBodySchema } from '../../../gen/google/api/httpbody_pb.ts';
import { Fault } from '../../contract/fault.ts';
import type { JobContext, StoreUse } from '../context.ts';
import type { JobMethod } from '../offers.ts';
import { requireResults } from './deleted-results.ts';
import { findJob, type ReadContext } from './read.ts';

/** Dependencies of this module. */
export type DataContext = Pick<JobContext, 'blobs' | 'links'> & StoreUse<'readBatches'> & ReadContext;

/**
 * Streams the result file of one unit. Its token comes from the retrieve response. Faults: `malformed` for a token
 * that does not belong to the job, `not_found` if the unit has no result, `results_deleted`, `unavailable` if the file cannot be read.
 */
export async function* data(
  context: DataContext,
  method: JobMethod,
  request: Message,
  userId: string,
): AsyncGenerator<Message> {
  const { blobs, links } = context;
  const { itemToken } = request as unknown as { itemToken: string };
  const job = await findJob(context, method, request, userId);
  requireResults(job);
  const place = links.readItemToken(job.id, itemToken);
  if (place === null)
    throw new Fault('malformed', `'${itemToken.slice(0, 80)}' is not the token of an item of this job.`);
  const outcome = await outcomeOf(context, job.id, place);
  if (outcome?.status !== 'SUCCESS' || !outcome.file)
    throw new Fault('not_found', 'This item has no result.');
  const { path, contentType } = outcome.file;
  let first = true;
  for await (const bytes of await blobs.read(path).catch(throwUnavailable)) {
    yield create(HttpBodySchema, first ? { contentType, data: bytes } : { data: bytes });
    first = false;
  }
}

/** Reports a file that was written but is missing as `unavailable`: the storage is at fault, not the caller. */
function throwUnavailable(error: unknown): never {
  const fault = Fault.from(error);
  if (fault.code !== 'not_found') throw fault;
  throw new Fault('unavailable', 'The result of this item could not be fetched.', { cause: error });
}

async function outcomeOf({ store }: DataContext, jobId: string, place: { batchId: string; index: number }) {
  for await (const batch of store.readBatches(jobId)) {
    if (batch.id === place.batchId) return batch.outcomes[place.index];
  }
  return undefined;
}
