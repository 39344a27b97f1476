import type { Message } from '@bufbuild/protobuf';
import type { Unit } from '../../store/documents.ts';
import type { Kind, Plan } from '../kind.ts';
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
  return { groups: [{ region, units: [{ key: itemId, input }] }], region, params: { itemId, shopId } };
}

/** Returns the key that a product page is cached under: region, shop and item. */
function recentKey({ input }: Unit, region: string): string {
  return `${region}/${input.shop_id}/${input.item_id}`;
}
