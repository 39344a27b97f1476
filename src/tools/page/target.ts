import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import type { MarketOrigins } from '../../base/origins.ts';
import { Fault } from '../../contract/fault.ts';
import { kinds } from '../../kinds/list.ts';
import { markets } from '../../markets/list.ts';
import type { Market, PageName, Reader } from '../../markets/market.ts';

/** A page to read: the reader, its input, and the region. */
export interface Target {
  market: Market;
  page: PageName;
  reader: Reader;
  input: JsonObject;
  /** Region code. Empty for a market without regions. */
  region: string;
}

/**
 * Finds the reader and parses its input. `kind` is a page type or a kind of job. `text` is an id, a
 * URL, or the reader's input as a JSON object, as in drift alarms. Throws `invalid`, which lists
 * the valid values.
 */
export function targetOf(marketName: string, kind: string, text: string, region?: string): Target {
  const market = markets.find(({ name }) => name === marketName);
  if (!market) {
    throw refused('market', marketName, `one of ${markets.map(({ name }) => name).join(', ')}`);
  }
  const page = kinds.find(({ name }) => name === kind)?.page ?? (kind as PageName);
  const reader = market.readers[page];
  if (!reader || !Object.hasOwn(market.readers, page)) {
    throw refused(
      'kind',
      kind,
      `a page type of ${market.name} (${Object.keys(market.readers).join(', ')})`,
    );
  }
  const { input, region: own } = inputOf(market, page, text);
  return {
    market,
    page,
    reader,
    input,
    region: regionOf(market, own, region),
  };
}

function inputOf(
  market: Market,
  page: PageName,
  text: string,
): { input: JsonObject; region?: string } {
  if (text.startsWith('{')) return { input: jsonOf(text) };
  if (market.parseUrl && /^https?:/.test(text)) {
    try {
      return market.parseUrl(page, text);
    } catch (thrown) {
      throw Fault.invalid(['id'], (thrown as Error).message, 'value_error');
    }
  }
  const form = market.ids[page];
  const input = text.trim() === '' ? null : form?.parse(text.trim());
  if (!input) {
    throw refused('id', text, form?.form ?? 'the input of the reader as a JSON object');
  }
  return { input };
}

function jsonOf(text: string): JsonObject {
  let value: Json = null;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    // Rejected below, with the text in the message.
  }
  if (!isObject(value)) throw refused('id', text, 'a JSON object');
  return value;
}

/** Returns the requested region, the region of the URL, or the only one. */
function regionOf(market: Market, own: string | undefined, requested: string | undefined): string {
  const { name, regions } = market;
  if (regions.length === 0) {
    if (requested) throw refused('region', requested, `valid: ${name} has no regions`);
    return '';
  }
  if (own !== undefined && requested !== undefined && own !== requested) {
    throw refused('region', requested, `${own}, the region of the URL`);
  }
  const region = own ?? requested ?? (regions.length === 1 ? regions[0] : undefined);
  if (region === undefined || !regions.includes(region)) {
    throw refused('region', region ?? '', `one of ${regions.join(', ')} (--region)`);
  }
  return region;
}

function refused(name: string, value: string, expected: string): Fault {
  const text = value.length > 100 ? `${value.slice(0, 100)}…` : value;
  return Fault.invalid([name], `'${text}' is not ${expected}`, 'value_error');
}

type Addresses = MarketOrigins['addresses'];

/** Search keyword for checks of a market with searches. */
const keyword = 'lamp';

/**
 * Returns the page used to check a market's origin: the page of `id`, a search, or the market's
 * first sample. Returns null for a market without these, because its clients name the sites. Throws
 * `invalid` for an unknown market or an invalid id.
 */
export function checkTarget(
  name: string,
  addresses: Addresses,
  id: string | undefined,
): Target | null {
  const market = markets.find((one) => one.name === name);
  if (market === undefined) return targetOf(name, '', '') && null;
  const [region = market.regions[0] ?? ''] = [...addresses.keys()].filter((key) => key !== '');
  const pages = Object.keys(market.readers) as PageName[];
  if (id !== undefined) {
    const found = pages
      .map((page) => parseTarget(market, page, id, region))
      .find((one) => one !== null);
    if (found) return found;
    const forms = pages.flatMap((page) => market.ids[page]?.form ?? []);
    throw Fault.invalid(['id'], `'${id}' is not one of: ${forms.join('; ')}`, 'value_error');
  }
  return parseTarget(market, 'search', keyword, region) ?? sampleTarget(market, addresses, region);
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
function sampleTarget(market: Market, addresses: Addresses, region: string): Target | null {
  const [address] = addresses.values();
  if (address === undefined) return null;
  for (const { kind, body } of market.samples(address)) {
    const page = kinds.find(({ name }) => name === kind)?.page;
    const reader = page && market.readers[page];
    const [input] = Array.isArray(body.items) ? (body.items as JsonObject[]) : [];
    if (page && reader && input)
      return {
        market,
        page,
        reader,
        input,
        region,
      };
  }
  return null;
}
