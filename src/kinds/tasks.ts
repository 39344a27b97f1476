import type { Json } from '../base/json.ts';
import { unitStatus } from '../store/job-states.ts';
import { bulkStatus, bulkSubmitted } from './bulk.ts';
import { type Identity, identify, inOrder, planItems } from './items.ts';
import type { JobSnapshot, Kind, View } from './kind.ts';
import { listingFields, listingFile } from './listing.ts';
import { inputText, reusedMember } from './unit-members.ts';

/** Properties that differ between kinds of tasks. */
type Tasks = Pick<Kind, 'name' | 'page' | 'price'>;

/** Creates a bulk kind of up to 50 tasks, each a listing with its own result file. */
export function taskKind(tasks: Tasks): Kind {
  return {
    ...tasks,
    lane: 'bulk',
    batchSize: 1,
    approval: false,
    workingHours: false,
    charge: 'submit',
    statusFrom: 'units',
    unqueued: 'refund',
    plan: (request, description, market) => planItems(request, description, market, inOrder),
    files: { unit: listingFile },
    resultFields: listingFields,
    submittedNeeds: ['units'],
    submitted: (snapshot) => ({ ...bulkSubmitted(snapshot), items: submittedTasks(snapshot) }),
    views: { retrieve },
  };
}

/**
 * Returns the tasks of a submission, for the markets whose response lists them (interface,
 * "Marketplace E", search).
 */
function submittedTasks({ units = [] }: JobSnapshot): Json[] {
  return units.map(({ unit, batch }) => ({
    taskId: batch.id,
    keyword: inputText(unit, 'keyword'),
    listType: inputText(unit, 'list_type'),
    status: 'pending',
  }));
}

/**
 * View of every task, with a link that also requires the Bearer token (interface, "Per-item bulk
 * job retrieve response").
 */
const retrieve: View = {
  needs: ['units'],
  async show({ job, units = [], link }) {
    const items = await Promise.all(
      units.map(async ({ unit, outcome, batch }, index) => {
        const { list_type: listType, ...identity } = identify(
          unit,
          job.params.identity as unknown as Identity,
          index + 1,
        );
        const file = outcome?.status === 'SUCCESS' ? outcome.file : undefined;
        return {
          taskId: batch.id,
          ...identity,
          ...(listType === undefined ? {} : { listType }),
          status: unitStatus(outcome, job),
          ...(file ? { downloadUrl: await link(file, { bearer: true }) } : {}),
          ...(outcome?.status === 'FAILED' ? { error: outcome.message } : {}),
          ...reusedMember(outcome),
        };
      }),
    );
    const countStatus = (status: string) => items.filter((item) => item.status === status).length;
    const counts = {
      total: items.length,
      success: countStatus('SUCCESS'),
      failed: countStatus('FAILED'),
    };
    return {
      jobId: job.id,
      // Refunds precede the terminal status.
      status: job.finishedAt === null ? 'processing' : bulkStatus(counts),
      ...counts,
      pending: counts.total - counts.success - counts.failed,
      items,
    };
  },
};
