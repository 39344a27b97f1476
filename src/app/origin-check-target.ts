import type { JsonObject } from '../base/json.ts';
import type { MarketOrigins } from '../base/origins.ts';
import { Fault } from '../contract/fault.ts';
import { kinds } from '../kinds/list.ts';
import { markets } from '../markets/list.ts';
import type { Market, PageName } from '../markets/market.ts';
import { type Target, targetOf } from './page/target.ts';

/** Search keyword for checks of a market with searches. */
const keyword = 'lamp';

/**
 * Returns the page used to check a market's origin: the page of `id`, a search, or the market's first sample.
 * Returns null for a market without these, because its clients name the sites. Throws `invalid` for an
 * unknown market or an invalid id.
 */
export function checkTarget(name: string, origins: MarketOrigins, id: string | undefined): Target | null {
  const market = markets.find((one) => one.name === name);
  if (market === undefined) return targetOf(name, '', '') && null;
  const [region = market.regions[0] ?? ''] = [...origins.addresses.keys()].filter((key) => key !== '');
  const pages = Object.keys(market.readers) as PageName[];
  if (id !== undefined) {
    const found = pages.map((page) => parseTarget(market, page, id, region)).find((one) => one !== null);
    if (found) return found;
    const forms = pages.flatMap((page) => market.ids[page]?.form ?? []);
    throw Fault.invalid(['id'], `'${id}' is not one of: ${forms.join('; ')}`, 'value_error');
  }
  return parseTarget(market, 'search', keyword, region) ?? sampleTarget(market, origins, region);
}

/** Returns the target of an id, or null if the id does not match the page's form. */
function parseTarget(market: Market, page: PageName, id: string, region: string): Target | null {
  try {
    const isUrl = /^https?:/.test(id);
    return targetOf(market.name, page, id, region === '' || isUrl ? undefined : region);
  } catch {
    return null;
  }
}

/** Returns the target of the first unit of a market's samples. */
function sampleTarget(market: Market, origins: MarketOrigins, region: string): Target | null {
  const [address] = origins.addresses.values();
  if (address === undefined) return null;
  for (const { kind, body } of market.samples(address)) {
    const page = kinds.find(({ name }) => name === kind)?.page;
    const reader = page && market.readers[page];
    const [input] = Array.isArray(body.items) ? (body.items as JsonObject[]) : [];
    if (page && reader && input) return { market, page, reader, input, region };
  }
  return null;
}
