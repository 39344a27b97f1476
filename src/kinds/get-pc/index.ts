import type { Kind } from '../kind.ts';
import { plan, recentKey } from './plan.ts';
import { retrieve, submitted } from './view.ts';

/** One product page. The job is identified by an integer. */
export const getPc: Kind = {
  name: 'get_pc',
  page: 'product',
  lane: 'single',
  batchSize: 1,
  approval: false,
  workingHours: false,
  charge: 'submit',
  statusFrom: 'units',
  unqueued: 'refuse',
  sequence: 'task',
  plan,
  recent: { key: recentKey, serves: () => false },
  price: 8,
  resultFields: (page) => page,
  files: {},
  submittedNeeds: [],
  submitted,
  views: { retrieve },
};
