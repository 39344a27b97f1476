import { services } from '../../src/contract/services.ts';
import { resolveOffers, resultFieldsOf } from '../../src/jobs/offers.ts';
import { kinds } from '../../src/kinds/list.ts';
import { markets } from '../../src/markets/list.ts';

const offers = resolveOffers(services, kinds, markets);

/** Returns the fields of a result record. `offer` is a market and a kind, such as "mkta get_pc". */
export function resultFields(offer: string): string {
  const [market = '', kind = ''] = offer.split(' ');
  return resultFieldsOf(offers.of({ market, kind }));
}
