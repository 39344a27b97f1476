import { Fault } from '../../contract/fault.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';

/** Dependencies of this module. */
export type ReleaseHoldContext = Pick<JobContext, 'clock' | 'log'> & StoreUse<'decideHold' | 'getJob'>;

/**
 * Releases the deliveries of a job that is held, or discards them. The same write makes the deliveries due. A repeated
 * call returns the job unchanged. Faults: `conflict` for a job that is not held, or whose hold was decided otherwise.
 */
export async function releaseHold(
  { store, clock, log }: ReleaseHoldContext,
  { id: jobId }: Job,
  decision: 'released' | 'discarded',
): Promise<Job> {
  const decided = await store.decideHold(jobId, decision, clock.now());
  if (decided !== null) {
    log.info({ jobId, decision }, 'hold decided');
    return decided;
  }
  const job = await store.getJob(jobId);
  if (job === null) throw new Fault('not_found', `There is no job '${jobId}'.`);
  if (job.hold?.state === decision) return job;
  throw new Fault('conflict', job.hold ? `The hold was ${job.hold.state}.` : 'The job is not held.');
}
