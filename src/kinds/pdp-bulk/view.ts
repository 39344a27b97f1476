import { bulkProgress } from '../bulk.ts';
import { type Identity, identify } from '../items.ts';
import type { View } from '../kind.ts';

/** Shows a job's progress, its file, and the failed items, which have no line in the file. */
export const retrieve: View = {
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
