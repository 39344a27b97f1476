import type { Kind } from '../kind.ts';
import { batchFile, jobFile } from './pack.ts';
import { plan } from './plan.ts';
import { download, item, retrieve, submitted } from './view.ts';

/** Sold counts of items' variants, in batches of 50 items. Jobs need an operator's approval. */
export const variantSold: Kind = {
  name: 'variant_sold',
  page: 'variants',
  lane: 'bulk',
  batchSize: 50,
  approval: true,
  workingHours: true,
  charge: 'approval',
  statusFrom: 'batches',
  unqueued: 'refund',
  plan,
  price: 10,
  resultFields: (page) => page,
  files: { batch: batchFile, job: jobFile },
  submittedNeeds: [],
  submitted,
  views: { retrieve, download, item },
};
