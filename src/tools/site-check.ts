import { type Clock, systemClock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { isObject, type Json, type JsonObject } from '../base/json.ts';
import { readSiteFiles } from '../base/site-files.ts';
import { Fault } from '../contract/fault.ts';
import type { PageResponse } from '../fetch/page.ts';
import { readAvailability } from '../markets/availability/availability.ts';
import type { Candidate } from '../markets/candidates/candidates.ts';
import { declaredSites } from '../markets/declared-sites/declared-sites.ts';
import type { SiteDeclaration } from '../markets/declared-sites/site-declaration.ts';
import { embeddedStates, openPage, siteOf } from '../markets/declared-sites/site-page.ts';
import {
  type FieldContradiction,
  readProduct,
  readProductPage,
} from '../markets/declared-sites/site-product.ts';
import { text } from '../markets/fields.ts';
import { datumAmounts } from '../markets/money/money.ts';
import type { ProductValues } from '../markets/structured-data/product.ts';
import type { FetchedReading } from './page/reading.ts';
import { readingLines } from './page/show.ts';
import { targetOf } from './page/target.ts';
import { readTargets, type Say } from './page.ts';

/** Returns the page of a declared site. Throws `invalid` if none has its host. */
const pageOf = (address: string) => targetOf('sites', 'product', address);

/** Options for checkSite(). */
export interface SiteCheckOptions {
  /** Whether the page is a product page, or the first page of a listing (default: product). */
  page?: 'product' | 'search';
  clock?: Clock;
}

/**
 * Reads a page with the declarations of a file, as a job does. Prints the record, the missing
 * fields, and the source of each field of a product page, or the fault of the unit. Returns false
 * for a fault. Throws a ConfigError for a broken file, with the line and column of each problem.
 */
export async function checkSite(
  config: Config,
  file: string,
  address: string,
  say: Say,
  { page: pageName = 'product', clock = systemClock }: SiteCheckOptions = {},
): Promise<boolean> {
  declaredSites.use(readSiteFiles(file));
  const url = URL.parse(address);
  if (url !== null && declaredSites.ofAddress(url) === undefined)
    throw Fault.invalid(
      ['url'],
      `${file} declares no shop with the host ${url.host}: add it to "hosts" of a shop`,
      'value_error',
    );
  const target = targetOf('sites', pageName, address);
  const [page] = (await readTargets(config, [target], say, clock)) as [FetchedReading];
  const { fault, main } = page;
  if (main) say(`${main.response.status} ${main.response.url}, ${main.response.body.length} bytes`);
  readingLines(target, page).forEach(say);
  if (main?.response.isPending) say(pendingLine);
  const remedy = remedies[pageName][fault?.code ?? ''];
  if (remedy !== undefined) say(remedy);
  if (fault !== null || main === null) return false;
  if (pageName === 'search') return true;
  const { from, contradictions } = readProduct(main.response, target.input, target.region);
  const width = Math.max(...Object.keys(from).map((name) => name.length));
  say('Sources:');
  for (const [name, source] of Object.entries(from)) say(`  ${name.padEnd(width)}  ${source}`);
  contradictionLines(contradictions).forEach(say);
  return true;
}

const allowPrivate =
  'To read shops in a private network, set {"sites": ' +
  '{"allow_private": true}} in the file of GLEANER_ORIGINS.';

/** What to do about faults of a page that the owner of a declaration can avoid. */
const remedies: Readonly<Record<'product' | 'search', Readonly<Record<string, string>>>> = {
  product: {
    address_refused: allowPrivate,
    page_unreadable:
      'To find where the page states its product, pass two product pages of the shop to ' +
      '`gleaner site learn`. Check a listing with --listing.',
  },
  search: {
    address_refused: allowPrivate,
    page_unreadable: 'Declare "listing" with the selector of its items (docs/sites.md#listings).',
  },
};

const pendingLine =
  'Pending: the browser stopped waiting for the price. ' +
  'If scripts of the page show it later, declare "wait_for".';

/** Maximum values of a field that are printed. */
const maxCandidates = 20;

/** Returns lines with the sources of a page that disagree, and the selected value of each field. */
export function contradictionLines(contradictions: readonly FieldContradiction[]): string[] {
  if (contradictions.length === 0) return [];
  const lines = [`Contradictions (fields: ${contradictions.length}):`];
  for (const { field, value, candidates } of contradictions) {
    const candidateLines = new Set(candidates.slice(0, maxCandidates).map(valueLine));
    const selection =
      value === null ? 'null, as the page marks none' : `taken: ${JSON.stringify(value)}`;
    for (const line of [...candidateLines, selection]) lines.push(`  ${field}  ${line}`);
  }
  return lines;
}

function valueLine({ value, rung, source, path }: Candidate): string {
  const origin = rung === 'structured' ? source : `${rung} ${source}`;
  return `${JSON.stringify(value)}  ${origin} ${path}`.trimEnd();
}

/** Maximum pages that are compared. */
const maxPages = 5;

/**
 * Fetches two or more product pages of a shop, and prints a declaration for it: a host alone if
 * structured data suffices, otherwise with the fields of embedded state that differ between the
 * pages.
 */
export async function learnSite(
  config: Config,
  addresses: readonly string[],
  say: Say,
  clock: Clock = systemClock,
): Promise<boolean> {
  if (addresses.length < 2 || addresses.length > maxPages)
    throw Fault.invalid(
      ['url'],
      `expected 2 to ${maxPages} product pages of one shop`,
      'value_error',
    );
  const host = URL.parse(addresses[0]!)?.host.replace(/^www\./, '') ?? '';
  const name = /[a-z][a-z0-9-]{0,39}/.exec(host.replaceAll('.', '-'))?.[0] ?? 'shop';
  declaredSites.use({
    path: '',
    texts: { learned: JSON.stringify({ [name]: host || 'shop.invalid' }) },
  });
  const readings = await readTargets(config, addresses.map(pageOf), say, clock);
  const responses = readings.map(({ main, fault }) => {
    if (main === null) throw fault;
    return main.response;
  });
  const { declaration, notes } = proposeSite(responses, siteOf(name));
  say(JSON.stringify({ [name]: declaration }, null, 2));
  for (const note of notes) say(`// ${note}`);
  return notes.length === 0;
}

/**
 * Fields of a product page that a declaration should give, with the names of members that hold
 * them.
 */
const memberNames: Readonly<Record<string, RegExp>> = {
  title: /^(?:product_?)?(?:title|name)$/i,
  price: /^(?:sale_?|final_?|current_?|selling_?)?price(?:_?(?:amount|value))?$|^amount$/i,
  currency: /^(?:price_?)?currency(?:_?(?:code|iso))?$/i,
  availability: /^(?:availability|in_?stock|is_?(?:in_?stock|available)|stock_?status)$/i,
  images: /^(?:images|pictures)$/i,
  sku: /^(?:sku|product_?(?:id|code)|article_?number)$/i,
  brand: /^(?:brand|manufacturer)(?:_?name)?$/i,
};
/** Fields that can be the same on all pages. */
const shared: ReadonlySet<string> = new Set(['currency', 'availability', 'brand']);

/**
 * A page that a declaration is proposed for, and the members of its embedded states by their paths.
 */
interface LearnedPage {
  values: ProductValues;
  contradicted: ReadonlySet<string>;
  members: ReadonlyMap<string, Json>;
}

function learnedPage(response: PageResponse, site: SiteDeclaration): LearnedPage {
  const page = openPage(response, site);
  const product = readProductPage(page);
  const states = Object.fromEntries(embeddedStates(page));
  return {
    values: product?.values ?? {},
    contradicted: new Set(product?.contradictions.map(({ field }) => field)),
    members: new Map(membersOf(states, [])),
  };
}

/**
 * Returns true if a member has the value that a page states for a field, as far as it states one.
 */
function hasStatedValue({ values, members }: LearnedPage, name: string, path: string): boolean {
  const value = values[name] ?? null;
  const member = members.get(path);
  if (value === null || Array.isArray(value)) return true;
  if (name === 'price')
    return datumAmounts(member, text(values.currency)).includes(value as number);
  if (name !== 'availability') return text(member) === text(value);
  const isAvailable =
    typeof member === 'boolean' ? member : readAvailability(text(member)).available;
  return isAvailable === readAvailability(text(value)).available;
}

/** Returns the path of a member that has a field on all pages, the least deep one first. */
function findMember(
  pages: readonly LearnedPage[],
  name: string,
  pattern: RegExp,
): string | undefined {
  const [{ members }] = pages as [LearnedPage];
  const depth = (path: string) => path.split('.').length;
  const paths = [...members.keys()].sort((one, other) => depth(one) - depth(other));
  return paths.find((path) => {
    const memberName = path.split('.').at(-1)!;
    if (!pattern.test(memberName)) return false;
    const values = new Set(pages.map((page) => page.members.get(path)));
    const isOfPage = !values.has(undefined) && (values.size > 1 || shared.has(name));
    return isOfPage && pages.every((page) => hasStatedValue(page, name, path));
  });
}

/**
 * Proposes a declaration from pages of one shop, with a note for each field that it leaves open. A
 * member of embedded state has to agree with the values that were decided for the pages.
 */
export function proposeSite(
  responses: readonly PageResponse[],
  site: SiteDeclaration,
): { declaration: JsonObject | string; notes: string[] } {
  const pages = responses.map((response) => learnedPage(response, site));
  const fields: JsonObject = {};
  const notes: string[] = [];
  for (const [name, pattern] of Object.entries(memberNames)) {
    if (pages.every(({ values }) => values[name] !== undefined)) continue;
    const memberPath = findMember(pages, name, pattern);
    if (memberPath !== undefined) {
      const [script = '', ...path] = memberPath.split('.');
      fields[name] = { json: path.join('.'), script };
      continue;
    }
    const isContradicted = pages.some(({ contradicted }) => contradicted.has(name));
    const reason = isContradicted
      ? 'sources of the pages contradict each other'
      : 'not found in structured data or embedded state';
    notes.push(`${name}: ${reason}; declare {"css": "…"}`);
  }
  const [host] = site.hosts as [string];
  return {
    declaration: Object.keys(fields).length === 0 ? host : { hosts: [host], fields },
    notes,
  };
}

/** Maximum depth of a member that is proposed. */
const maxDepth = 12;

/**
 * Yields the members with a plain value that is not empty, by their paths, also in the first
 * elements of each list.
 */
function* membersOf(value: Json | undefined, path: readonly string[]): Generator<[string, Json]> {
  if (value === undefined || value === null || value === '') return;
  if (!isObject(value) && !Array.isArray(value)) {
    yield [path.join('.'), value];
    return;
  }
  if (path.length >= maxDepth) return;
  const members = Array.isArray(value) ? value.slice(0, maxElements) : value;
  for (const [name, member] of Object.entries(members))
    if (!name.includes('.')) yield* membersOf(member, [...path, name]);
}

/** Maximum elements of a list that are considered. */
const maxElements = 3;
