import { missingOriginMessage } from '../base/missing-origin.ts';
import type { Origins } from '../base/origins.ts';
import { Fault } from '../contract/fault.ts';
import { storeOrigin } from './address.ts';
import type { PageRequest } from './page.ts';

/** Finds scheme, host and port that a request of a market and region goes to. Faults:
 *  `origin_missing`, `address_refused`. */
export type OriginOf = (market: string, region: string, request: Pick<PageRequest, 'origin'>) => string;

/** Finds origins as the origins file has them; stores named by callers are their own. */
export function originFinder(origins: Origins): OriginOf {
  return (market, region, request) => {
    const settings = origins.get(market);
    if (request.origin !== undefined) return storeOrigin(request.origin, settings?.allowPrivate ?? false);
    const address = settings?.addresses.get(region);
    if (address === undefined) throw new Fault('origin_missing', missingOriginMessage(market, region));
    return address;
  };
}
