import { bulkProgress, bulkSubmitted } from '../bulk.ts';
import { byRegion, type Identity, identify, planItems } from '../items.ts';
import type { Kind, View } from '../kind.ts';
import { jobFile } from './pack.ts';

/** Single-file bulk job retrieve response; what failed stands in no line of the file. */
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

/** Product pages by the thousand, in one gzip-compressed JSON Lines file. */
export const pdpBulk: Kind = {
  name: 'pdp_bulk',
  page: 'product',
  lane: 'bulk',
  batchSize: 20,
  approval: false,
  workingHours: false,
  charge: 'submit',
  judgedBy: 'units',
  unqueued: 'refund',
  plan: (request, description, market) => planItems(request, description, market, byRegion),
  price: () => 5,
  files: { job: jobFile },
  submittedNeeds: [],
  submitted: bulkSubmitted,
  views: { retrieve },
};
