import { Fault } from '../../contract/fault.ts';
import type { Job } from '../../store/documents.ts';

/** Throws the fault `results_deleted` for a job whose result files were deleted. */
export function requireResults({ filesDeletedAt }: Pick<Job, 'filesDeletedAt'>): void {
  if (filesDeletedAt === null) return;
  const day = new Date(filesDeletedAt).toISOString().slice(0, 10);
  throw new Fault('results_deleted', `The results of this job were deleted on ${day}.`);
}
