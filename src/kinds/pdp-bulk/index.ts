import { bulkSubmitted } from '../bulk.ts';
import { byRegion, planItems } from '../items.ts';
import type { Kind } from '../kind.ts';
import { jobFile, lineFields } from './pack.ts';
import { retrieve } from './view.ts';

/** Thousands of product pages in one gzip-compressed JSON Lines file. */
export const pdpBulk: Kind = {
  name: 'pdp_bulk',
  page: 'product',
  lane: 'bulk',
  batchSize: 20,
  approval: false,
  workingHours: false,
  charge: 'submit',
  statusFrom: 'units',
  unqueued: 'refund',
  plan: (request, description, market) => planItems(request, description, market, byRegion),
  price: 5,
  resultFields: lineFields,
  files: { job: jobFile },
  submittedNeeds: [],
  submitted: bulkSubmitted,
  views: { retrieve },
};
