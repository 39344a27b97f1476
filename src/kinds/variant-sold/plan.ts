import type { Message } from '@bufbuild/protobuf';
import { Fault, type Problem } from '../../contract/fault.ts';
import type { Plan } from '../kind.ts';

/** Fields of gleaner.mkta.v1.SubmitVariantSoldRequest. */
interface Request {
  country?: string;
  items: { itemId: string; shopId: string; country?: string }[];
}

const maxProblems = 100;

/**
 * Plans one unit per item, in the order submitted; duplicates are separate units. The country is set on every
 * item or once for the request, and a request has one country. Fault `invalid` names each item whose country
 * is missing or differs.
 */
export function plan(request: Message): Plan {
  const { country: common, items } = request as unknown as Request;
  const expected = common ?? items[0]?.country;
  const problems: Problem[] = [];
  const units = [];
  for (let index = 0; index < items.length && problems.length < maxProblems; index++) {
    const { itemId, shopId, country = common } = items[index]!;
    if (country === undefined) {
      problems.push({ loc: ['body', 'items', index, 'country'], msg: 'Field required', type: 'missing' });
    } else if (country !== expected) {
      const msg = `One country per request: '${country}' is not '${expected}'`;
      problems.push({ loc: ['body', 'items', index, 'country'], msg, type: 'value_error' });
    }
    units.push({ key: itemId, input: { item_id: itemId, shop_id: shopId } });
  }
  if (problems.length > 0) throw new Fault('invalid', 'The items are not of one country.', { problems });
  const region = expected ?? '';
  return { groups: [{ region, units }], region, params: {} };
}
