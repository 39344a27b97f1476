import type { Message } from '@bufbuild/protobuf';
import type { Unit } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import type { JobSnapshot, Kind, Plan, View } from '../kind.ts';

/** Returns the status of a task. A failed task is shown as ended only with its refund. */
function statusOf(job: Job, started: boolean): string {
  if (job.state === 'completed' || job.state === 'failed') return job.state;
  // Cancelled before its page was read.
  if (job.state === 'terminated') return 'failed';
  return started ? 'processing' : 'pending';
}

/** Shows the task, with its record once it is completed. */
const retrieve: View = {
  needs: ['only'],
  show({ job, unit: only }) {
    const { outcome, payload, batch } = only!;
    const status = statusOf(job, batch.state === 'claimed' || batch.state === 'done');
    return {
      taskId: job.number,
      status,
      refunded: job.refunded,
      ...(status === 'completed' && payload !== null ? { result: payload } : {}),
      ...(status === 'failed' && outcome?.status === 'FAILED' ? { detail: outcome.message } : {}),
    };
  },
};

/** Shows an accepted task. */
function submitted({ job }: JobSnapshot) {
  return {
    ...job.params,
    taskId: job.number,
    status: 'pending',
    cost: job.cost,
    region: job.region,
  };
}

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

/** Fields of gleaner.mkta.v1.SubmitGetPcRequest. */
interface Request {
  region: string;
  itemId: string;
  shopId: string;
}

/** Plans one unit: the requested page. */
function plan(request: Message): Plan {
  const { region, itemId, shopId } = request as unknown as Request;
  const input = { item_id: itemId, shop_id: shopId };
  return {
    groups: [{ region, units: [{ key: itemId, input }] }],
    region,
    params: { itemId, shopId },
  };
}

/** Returns the key that a product page is cached under: region, shop and item. */
function recentKey({ input }: Unit, region: string): string {
  return `${region}/${input.shop_id}/${input.item_id}`;
}
