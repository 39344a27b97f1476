import type { Job } from '../../store/documents.ts';
import type { JobSnapshot, View } from '../kind.ts';

/** Returns the status of a task. A failed task is shown as ended only with its refund. */
function statusOf(job: Job, started: boolean): string {
  if (job.state === 'completed' || job.state === 'failed') return job.state;
  // Cancelled before its page was read.
  if (job.state === 'terminated') return 'failed';
  return started ? 'processing' : 'pending';
}

/** Shows the task, with its record once it is completed. */
export const retrieve: View = {
  needs: ['only'],
  show({ job, unit: only }) {
    const { outcome, payload, batch } = only!;
    const status = statusOf(job, batch.state === 'claimed' || batch.state === 'done');
    return {
      taskId: job.number,
      status,
      refunded: job.refunded,
      ...(status === 'completed' && payload !== null ? { result: payload } : {}),
      ...(status === 'failed' && outcome?.status === 'FAILED' ? { detail: outcome.message } : {}),
    };
  },
};

/** Shows an accepted task. */
export function submitted({ job }: JobSnapshot) {
  return { ...job.params, taskId: job.number, status: 'pending', cost: job.cost, region: job.region };
}
