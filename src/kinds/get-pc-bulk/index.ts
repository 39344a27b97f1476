import type { Kind } from '../kind.ts';
import { jobFile, rowFields } from './pack.ts';
import { maxRows, plan, recentKey } from './plan.ts';
import { retrieve, submitted } from './view.ts';

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
