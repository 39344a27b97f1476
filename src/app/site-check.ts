import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Clock, systemClock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { isObject, type Json, type JsonObject } from '../base/json.ts';
import { createLog } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import type { PageResponse } from '../fetch/page.ts';
import { declaredSites } from '../markets/declared-sites.ts';
import { bodyText, parseHtml } from '../markets/html.ts';
import { markets } from '../markets/list.ts';
import { productFields, type SiteDeclaration } from '../markets/site-declaration.ts';
import {
  embeddedStates,
  openSitePage,
  readProductPage,
  recordOf,
  type SourcedValues,
} from '../markets/site-page.ts';
import { unexpectedPage } from '../markets/unexpected-page.ts';
import { openFetching } from './open-fetching.ts';
import { openPageStore } from './page-store.ts';
import { useSites } from './use-sites.ts';

type Say = (line: string) => void;

/** Maximum pages that are compared. */
const maxPages = 5;

/** Fetches pages of a declared site, within the limits of its origins and its robots.txt. */
async function fetchPages(
  config: Config,
  site: string,
  urls: readonly URL[],
  say: Say,
  clock: Clock,
): Promise<PageResponse[]> {
  const store = await openPageStore(config, say);
  const { pages, close } = await openFetching({ config, store, clock, log: createLog('silent', 'site') });
  // The declared sites are the regions of one market.
  const { name } = markets.find(({ regionPolicy }) => regionPolicy !== undefined)!;
  try {
    return await Promise.all(
      urls.map(async ({ pathname, search, origin }) => {
        const session = pages.openSession(name, site);
        const response = await session.fetch({ path: pathname + search, origin, redirects: 'anywhere' });
        await session.end(null);
        return response;
      }),
    );
  } finally {
    await close();
    await store.close();
  }
}

/** Returns the address of a page. Throws `invalid`. */
function addressOf(text: string): URL {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol)) return url;
  throw Fault.invalid(['url'], `'${text}' is not an http or https address`, 'url_parsing');
}

/** Reads a page as a unit of the site. Throws the fault of a page that shows no product. */
function readPage(response: PageResponse, site: SiteDeclaration) {
  const html = bodyText(response);
  const page = openSitePage(parseHtml(html), response.url, site);
  const read = response.status === 200 ? readProductPage(page) : null;
  if (read !== null) return { page, read };
  if (response.status !== 200) throw new Fault('page_failed', `the site returned ${response.status}`);
  throw unexpectedPage(html, 'a product');
}

/**
 * Fetches a product page with the declarations of a file. Prints the record, the source of each field, and
 * the missing fields. Returns false for a page that shows no product. Throws `invalid` for a broken file,
 * with the line and column of each problem.
 */
export async function checkSite(
  config: Config,
  file: string,
  address: string,
  say: Say,
  clock: Clock = systemClock,
): Promise<boolean> {
  const url = addressOf(address);
  useSites(
    { siteFiles: { path: file, texts: { [basename(file)]: await readFile(file, 'utf8') } } },
    undefined,
    '',
  );
  const site = declaredSites.ofAddress(url);
  if (site === undefined)
    throw Fault.invalid(['url'], `no site of ${file} has the host ${url.host}`, 'value_error');
  const [response] = (await fetchPages(config, site.name, [url], say, clock)) as [PageResponse];
  say(`${response.status} ${response.url}, ${response.body.length} bytes`);
  try {
    const { page, read } = readPage(response, site);
    for (const line of checkLines(read, recordOf(read, page.url, site.name))) say(line);
    return true;
  } catch (error) {
    const { code, message } = Fault.from(error);
    say(`FAULT ${code}: ${message}`);
    return false;
  }
}

/** Formats a record, the source of each of its fields, and the standard fields that it lacks. */
function checkLines({ from }: Pick<SourcedValues, 'from'>, record: JsonObject): string[] {
  const width = Math.max(...Object.keys(from).map((name) => name.length));
  const missing = Object.keys(productFields).filter((name) => !(name in from));
  return [
    JSON.stringify(record, null, 2),
    'Sources:',
    ...Object.entries(from).map(([name, source]) => `  ${name.padEnd(width)}  ${source}`),
    missing.length === 0 ? 'No field is missing.' : `Missing: ${missing.join(', ')}`,
  ];
}

/**
 * Fetches two or more product pages of a shop, and prints a declaration for it: a host alone if structured
 * data suffices, otherwise with the fields of embedded state that differ between the pages.
 */
export async function learnSite(
  config: Config,
  addresses: readonly string[],
  say: Say,
  clock: Clock = systemClock,
): Promise<boolean> {
  const urls = addresses.map(addressOf);
  if (urls.length < 2 || urls.length > maxPages)
    throw Fault.invalid(['url'], `expected 2 to ${maxPages} product pages of one shop`, 'value_error');
  const [{ host }] = urls as [URL];
  const other = urls.find((url) => url.host !== host);
  if (other !== undefined)
    throw Fault.invalid(['url'], `${other.host} is not the host ${host} of the first page`, 'value_error');
  const words = host.replace(/^www\./, '').replace(/[^a-z0-9]+/g, '-');
  const name = words.replace(/^[^a-z]+|-$/g, '').slice(0, 40) || 'shop';
  const texts = { learned: JSON.stringify({ [name]: host.replace(/^www\./, '') }) };
  useSites({ siteFiles: { path: '', texts } });
  const site = declaredSites.find(name)!;
  const responses = await fetchPages(config, name, urls, say, clock);
  const { declaration, notes } = proposeSite(responses, site);
  say(JSON.stringify({ [name]: declaration }, null, 2));
  for (const note of notes) say(`// ${note}`);
  return notes.length === 0;
}

/** A proposed declaration, and what it leaves open. */
interface SiteProposal {
  declaration: JsonObject | string;
  notes: string[];
}

/** Fields of a product page that a declaration should give. */
const wanted = ['title', 'price', 'currency', 'availability', 'images', 'sku', 'brand'] as const;
/** Names of members of embedded state that hold a field, the most specific first. */
const memberNames: Partial<Record<(typeof wanted)[number], RegExp>> = {
  title: /^(?:product_?)?(?:title|name)$/i,
  price: /^(?:sale_?|final_?|current_?|selling_?)?price(?:_?(?:amount|value))?$|^amount$/i,
  currency: /^(?:price_?)?currency(?:_?(?:code|iso))?$/i,
  availability: /^(?:availability|in_?stock|is_?(?:in_?stock|available)|stock_?status)$/i,
  sku: /^(?:sku|product_?(?:id|code)|article_?number)$/i,
  brand: /^(?:brand|manufacturer)(?:_?name)?$/i,
};

/** Proposes a declaration from pages of one shop. */
export function proposeSite(responses: readonly PageResponse[], site: SiteDeclaration): SiteProposal {
  const pages = responses.map((response) => {
    const page = openSitePage(parseHtml(bodyText(response)), response.url, site);
    return { values: readProductPage(page)?.values ?? {}, states: embeddedStates(page) };
  });
  const fields: JsonObject = {};
  const notes: string[] = [];
  for (const name of wanted) {
    if (pages.every(({ values }) => values[name] !== undefined)) continue;
    const found =
      memberNames[name] &&
      findMember(
        pages.map(({ states }) => states),
        memberNames[name],
        name !== 'currency' && name !== 'availability' && name !== 'brand',
      );
    if (found) fields[name] = found;
    else notes.push(`${name}: not found in structured data or embedded state; declare {"css": "…"}`);
  }
  const [host] = site.hosts as [string];
  return { declaration: Object.keys(fields).length === 0 ? host : { hosts: [host], fields }, notes };
}

/**
 * Returns the source of the shallowest member of embedded state with a name and a plain value on every page.
 * With `differs`, its values are not the same on all of them.
 */
function findMember(
  pages: readonly ReadonlyMap<string, Json>[],
  pattern: RegExp,
  differs: boolean,
): JsonObject | null {
  const [first, ...others] = pages.map((states) => {
    const members = [...states].flatMap(([script, state]) =>
      [...membersOf(state, pattern, [])].map(([path, value]) => [`${script}\n${path}`, value] as const),
    );
    return new Map(members.sort(([one], [other]) => one.split('.').length - other.split('.').length));
  });
  for (const [place, value] of first ?? []) {
    const values = [value, ...others.map((page) => page.get(place))];
    if (values.includes(undefined) || (differs && new Set(values).size === 1)) continue;
    const [script, json] = place.split('\n') as [string, string];
    return { json, script };
  }
  return null;
}

/** Maximum depth of a member that is proposed. */
const maxDepth = 12;

/** Yields the members of JSON with a name and a plain value that is not empty, by their paths. */
function* membersOf(
  value: Json | undefined,
  pattern: RegExp,
  path: readonly string[],
): Generator<[string, Json]> {
  if (path.length > maxDepth || value === null || typeof value !== 'object') return;
  // The first elements of a list stand for the others.
  const entries = Array.isArray(value) ? [...value.slice(0, 3).entries()] : Object.entries(value);
  for (const [key, member] of entries) {
    const inner = [...path, String(key)];
    const isPlain =
      member !== null && member !== undefined && member !== '' && !isObject(member) && !Array.isArray(member);
    if (isPlain && pattern.test(String(key)) && !inner.some((step) => step.includes('.')))
      yield [inner.join('.'), member];
    yield* membersOf(member, pattern, inner);
  }
}
