import type { Origins } from '../base/origins.ts';
import { Fault } from '../contract/fault.ts';
import { storeOrigin } from './address.ts';
import type { PageRequest } from './page.ts';

/**
 * Returns the scheme, host, and port of a request's target. Throws `origin_missing` or
 * `address_refused`.
 */
export type ResolveOrigin = (
  market: string,
  region: string,
  request: Pick<PageRequest, 'origin'>,
) => string;

/** Creates a resolver of the origins file's origins, and of stores that callers name. */
export function createOriginResolver(origins: Origins): ResolveOrigin {
  return (market, region, request) => {
    const settings = origins.get(market);
    if (request.origin !== undefined)
      return storeOrigin(request.origin, settings?.allowPrivate ?? false);
    const address = settings?.addresses.get(region);
    if (address === undefined)
      throw new Fault('origin_missing', missingOriginMessage(market, region));
    return address;
  };
}

/**
 * Returns why units of a market and region fail without an origin, and how an operator can fix it.
 */
function missingOriginMessage(market: string, region: string): string {
  const name = region === '' ? market : `${market}/${region}`;
  const key =
    region === '' ? `"${market}": "https://…"` : `"${market}": {"${region}": "https://…"}`;
  return (
    `no origin is configured for ${name}: an operator must add ` +
    `${key} to the file of GLEANER_ORIGINS and restart the service`
  );
}
