import { bulkProgress } from '../bulk.ts';
import type { JobSnapshot, View } from '../kind.ts';

/** Shows an accepted task. */
export function submitted({ job }: JobSnapshot) {
  return {
    ...job.params,
    taskId: job.number,
    status: 'processing',
    total: job.totalUnits,
    cost: job.cost,
    ...(job.refunded > 0 ? { refunded: job.refunded } : {}),
  };
}

/** Shows a task's progress, and its file once it is compiled. */
export const retrieve: View = {
  needs: ['counts'],
  show: async (snapshot) => ({
    taskId: snapshot.job.number,
    refunded: snapshot.job.refunded,
    ...(await bulkProgress(snapshot)),
    // Only this kind shows the state `terminated`.
    ...(snapshot.job.state === 'terminated' ? { status: 'terminated' } : {}),
  }),
};
