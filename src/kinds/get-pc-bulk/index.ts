import type { Message } from '@bufbuild/protobuf';
import { bulkProgress } from '../bulk.ts';
import { inOrder } from '../items.ts';
import type { Kind, Plan } from '../kind.ts';
import { jobFile } from './pack.ts';
import { readRows } from './rows.ts';

/** What the plan reads of the request: gleaner.mkta.v1.SubmitGetPcBulkRequest. */
interface Request {
  file: Uint8Array;
  rescrape?: boolean;
  resultFormat?: string;
}

async function plan(request: Message): Promise<Plan> {
  const { file, rescrape = false, resultFormat = 'csv' } = request as unknown as Request;
  const units = (await readRows(file)).map(({ region, ...input }) => ({
    unit: { key: input.item_id, input },
    region,
  }));
  return { groups: inOrder(units), region: '', params: { rescrape, resultFormat } };
}

/** Product pages of a CSV's rows, in one CSV or JSON Lines file. */
export const getPcBulk: Kind = {
  name: 'get_pc_bulk',
  page: 'product',
  lane: 'bulk',
  batchSize: 20,
  approval: false,
  workingHours: false,
  charge: 'submit',
  judgedBy: 'units',
  unqueued: 'refund',
  sequence: 'task',
  plan,
  recent: {
    key: (unit, region) => `${region}/${unit.input.shop_id}/${unit.input.item_id}`,
    serves: (job) => job.params.rescrape === false,
  },
  price: () => 8,
  files: { job: jobFile },
  submittedNeeds: [],
  submitted: ({ job }) => ({
    ...job.params,
    taskId: job.number,
    status: 'processing',
    total: job.totalUnits,
    cost: job.cost,
    ...(job.refunded > 0 ? { refunded: job.refunded } : {}),
  }),
  views: {
    retrieve: {
      needs: ['counts'],
      show: async (snapshot) => ({
        taskId: snapshot.job.number,
        refunded: snapshot.job.refunded,
        ...(await bulkProgress(snapshot)),
        // A word of this kind alone (decisions, "get_pc_bulk retrieve").
        ...(snapshot.job.state === 'terminated' ? { status: 'terminated' } : {}),
      }),
    },
  },
  listed: (jobs) => ({ tasks: jobs.map(({ number }) => number) }),
};
