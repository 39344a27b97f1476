import { Fault } from '../contract/fault.ts';

/** Creates the fault for a job that was removed as abandoned while a call wrote it. */
export function removedFault(jobId: string): Fault {
  return new Fault('unavailable', `job ${jobId} was removed as abandoned while it was being written`);
}

/** Creates the fault for a new job with the id of a deleted one. */
export function deletedFault(jobId: string): Fault {
  return new Fault('conflict', `The job ${jobId} was deleted.`);
}
