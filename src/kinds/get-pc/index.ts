import type { Message } from '@bufbuild/protobuf';
import type { Job } from '../../store/documents.ts';
import type { Kind, Plan, View } from '../kind.ts';

/** What the plan reads of the request: gleaner.mkta.v1.SubmitGetPcRequest. */
interface Request {
  region: string;
  itemId: string;
  shopId: string;
}

function plan(request: Message): Plan {
  const { region, itemId, shopId } = request as unknown as Request;
  const input = { item_id: itemId, shop_id: shopId };
  return { groups: [{ region, units: [{ key: itemId, input }] }], region, params: { itemId, shopId } };
}

/** Status of a task (decisions, "get_pc status"). It ends with its refund, so that both are seen at once. */
function statusOf(job: Job, started: boolean): string {
  if (job.state === 'completed' || job.state === 'failed') return job.state;
  // Cancelled before its page was read.
  if (job.state === 'terminated') return 'failed';
  return started ? 'processing' : 'pending';
}

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

/** One product page, known by an integer. */
export const getPc: Kind = {
  name: 'get_pc',
  page: 'product',
  lane: 'single',
  batchSize: 1,
  approval: false,
  workingHours: false,
  charge: 'submit',
  judgedBy: 'units',
  unqueued: 'refuse',
  sequence: 'task',
  plan,
  recent: { key: (unit, region) => pageKey(region, unit.input), serves: () => false },
  price: () => 8,
  files: {},
  submittedNeeds: [],
  submitted: ({ job }) => ({
    ...job.params,
    taskId: job.number,
    status: 'pending',
    cost: job.cost,
    region: job.region,
  }),
  views: { retrieve },
};

/** Name that a product page is kept under for a while: region, shop and item. */
function pageKey(region: string, input: Record<string, unknown>): string {
  return `${region}/${input.shop_id}/${input.item_id}`;
}
