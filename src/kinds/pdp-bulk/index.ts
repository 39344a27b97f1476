import { bulkProgress, bulkSubmitted } from '../bulk.ts';
import { byRegion, type Identity, identify, planItems } from '../items.ts';
import type { Kind, View } from '../kind.ts';
import { jobFile, lineFields } from './pack.ts';

/** Shows a job's progress, its file, and the failed items, which have no line in the file. */
const retrieve: View = {
  needs: ['counts', 'failures'],
  async show(snapshot) {
    const { job, failures = [] } = snapshot;
    const identity = job.params.identity as unknown as Identity;
    const errors = failures.map(({ unit, message, place }) => ({
      ...identify(unit, identity, place + 1),
      error: message,
    }));
    return {
      jobId: job.id,
      ...(await bulkProgress(snapshot)),
      ...(errors.length > 0 ? { errors: JSON.stringify(errors) } : {}),
    };
  },
};

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
