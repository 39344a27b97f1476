import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import type { Role } from '../session/session.ts';

/** Tab of the job page. */
export type JobTab = 'results' | 'failures' | 'units' | 'changes' | 'batches';

/** Returns the tab that matters most in the job's current state. */
export function initialTab(
  job: Pick<Job, 'status' | 'ended' | 'success' | 'failed' | 'notRun'>,
  role: Role,
): JobTab {
  if (job.status === 'awaiting_approval' || job.status === 'rejected') return 'units';
  if (role === 'user' && (job.success > 0 || !job.ended)) return 'results';
  if (job.failed > job.notRun) return 'failures';
  return role === 'operator' ? 'batches' : 'units';
}

/** Returns the tabs of the job page for a role. */
export const jobTabs = (role: Role): readonly JobTab[] =>
  role === 'operator'
    ? ['results', 'failures', 'units', 'batches']
    : ['results', 'failures', 'units', 'changes'];
