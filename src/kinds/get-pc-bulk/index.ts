import { bulkProgress } from '../bulk.ts';
import type { JobSnapshot, Kind, View } from '../kind.ts';
import { jobFile, rowFields } from './pack.ts';
import { maxRows, plan, recentKey } from './plan.ts';

/** Shows a task's progress, and its file once it is compiled. */
const retrieve: View = {
  needs: ['counts'],
  show: async (snapshot) => ({
    taskId: snapshot.job.number,
    refunded: snapshot.job.refunded,
    ...(await bulkProgress(snapshot)),
    // Only this kind shows the state `terminated`.
    ...(snapshot.job.state === 'terminated' ? { status: 'terminated' } : {}),
  }),
};

/** Product pages of the rows of a CSV, in one CSV or JSON Lines file. */
export const getPcBulk: Kind = {
  name: 'get_pc_bulk',
  page: 'product',
  lane: 'bulk',
  batchSize: 20,
  maxUnits: maxRows,
  approval: false,
  workingHours: false,
  charge: 'submit',
  statusFrom: 'units',
  unqueued: 'refund',
  sequence: 'task',
  plan,
  recent: {
    key: recentKey,
    serves: (job) => job.params.rescrape === false,
  },
  price: 8,
  resultFields: rowFields,
  files: { job: jobFile },
  submittedNeeds: [],
  submitted,
  views: { retrieve },
  listed: (jobs) => ({ tasks: jobs.map(({ number }) => number) }),
};

/** Shows an accepted task. */
function submitted({ job }: JobSnapshot) {
  return {
    ...job.params,
    taskId: job.number,
    status: 'processing',
    total: job.totalUnits,
    cost: job.cost,
    ...(job.refunded > 0 ? { refunded: job.refunded } : {}),
  };
}
