import { isWithin } from '../base/working-hours.ts';
import type { Job } from '../store/documents.ts';
import type { JobContext } from './context.ts';

/** Dependencies of this module. */
export type OpenContext = Pick<JobContext, 'clock' | 'offers' | 'settings'>;

/** Returns false while a live job of a kind with working hours is outside of them. */
export function isOpen(context: OpenContext, job: Pick<Job, 'kind' | 'market' | 'mode'>): boolean {
  const { workingHours } = context.settings;
  return (
    workingHours === null ||
    job.mode === 'test' ||
    !context.offers.of(job).kind.workingHours ||
    isWithin(workingHours, context.clock.now())
  );
}
