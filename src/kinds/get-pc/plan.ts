import type { Message } from '@bufbuild/protobuf';
import type { Unit } from '../../store/documents.ts';
import type { Plan } from '../kind.ts';

/** Fields of gleaner.mkta.v1.SubmitGetPcRequest. */
interface Request {
  region: string;
  itemId: string;
  shopId: string;
}

/** Plans one unit: the requested page. */
export function plan(request: Message): Plan {
  const { region, itemId, shopId } = request as unknown as Request;
  const input = { item_id: itemId, shop_id: shopId };
  return { groups: [{ region, units: [{ key: itemId, input }] }], region, params: { itemId, shopId } };
}

/** Returns the key that a product page is cached under: region, shop and item. */
export function recentKey({ input }: Unit, region: string): string {
  return `${region}/${input.shop_id}/${input.item_id}`;
}
