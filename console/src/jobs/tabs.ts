import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import type { AccountRole } from '../ui/session/session.ts';

export type JobTab = 'results' | 'failures' | 'units' | 'changes' | 'batches' | 'details';

/** Returns the tab that matters most in the job's current state. */
export function initialTab(
  job: Pick<Job, 'status' | 'ended' | 'success' | 'failed' | 'notRun'>,
  role: AccountRole,
): JobTab {
  if (job.status === 'awaiting_approval' || job.status === 'rejected') return 'units';
  if (role === 'user' && (job.success > 0 || !job.ended)) return 'results';
  if (job.failed > job.notRun) return 'failures';
  return role === 'operator' ? 'batches' : 'units';
}

export const jobTabs = (role: AccountRole): readonly JobTab[] =>
  role === 'operator'
    ? ['results', 'failures', 'units', 'batches', 'details']
    : ['results', 'failures', 'units', 'changes', 'details'];
