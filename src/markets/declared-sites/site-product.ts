import type { Json, JsonObject } from '../../base/json.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../../fetch/page.ts';
import type { Candidate } from '../candidates/candidates.ts';
import { text } from '../fields.ts';
import { find } from '../html/html.ts';
import { checkFound } from '../responses/not-found-page.ts';
import { resolvePage } from './page-values.ts';
import { isOverviewPage, otherPageFault } from './site-fault.ts';
import { readFields, recordOf, type SourcedValues } from './site-fields.ts';
import { openPage, type SitePage, siteOf } from './site-page.ts';

/** Candidates of a field that contradict each other or the selected value. */
export interface FieldContradiction {
  field: string;
  /** The value of the record: the value that the page marks, otherwise null. */
  value: Json;
  candidates: readonly Candidate[];
}

/** Values of a product page. */
export interface ShopReading extends SourcedValues {
  contradictions: readonly FieldContradiction[];
  /** False if only the visible page and embedded state say that the page shows a product. */
  isStated: boolean;
}

/** Returns the values of a product page and their sources, or null if the page shows no product. */
export function readProductPage(page: SitePage): ShopReading | null {
  const { fields } = page.site;
  const stated = resolvePage(page);
  const { resolutions } = stated;
  const read = readFields(page, page.html.root, fields, stated);
  const isDeclared = Object.keys(fields).some((name) => name !== 'title' && name in read.from);
  const isOffered = ['price', 'availability', 'sku', 'gtin'].some(
    (name) => read.values[name] !== undefined,
  );
  const isStated =
    isDeclared || [...resolutions.values()].some(({ rung }) => rung === 'structured');
  const contradictions: FieldContradiction[] = [];
  for (const [field, { contradictions: candidates }] of resolutions)
    if (candidates.length > 0 && fields[field] === undefined)
      contradictions.push({ field, value: read.values[field] ?? null, candidates });
  const title = text(read.values.title);
  if (title === null || !(isStated || isOffered)) return null;
  if (stated.isList && !isDeclared) return null;
  if (!isStated && isOverviewPage(page, title)) return null;
  return { ...read, contradictions, isStated };
}

/**
 * Reads the record of a response, the source of each of its fields, and the sources that disagree.
 * Throws `page_unreadable` if the page does not show what the site's `wait_for` selects.
 */
export function readProduct(
  response: PageResponse,
  input: JsonObject,
  region: string,
): { record: JsonObject } & Pick<ShopReading, 'from' | 'contradictions'> {
  const site = siteOf(region);
  const page = openPage(response, site);
  const read = readProductPage(page);
  const fault = otherPageFault(page, read, String(input.url));
  if (read === null || fault !== null) throw fault!;
  checkFound(page.text);
  if (site.wait_for !== undefined && !find(page.html.root, site.wait_for))
    throw new Fault(
      'page_unreadable',
      `the page does not show ${site.wait_for}, the "wait_for" of the site`,
    );
  const { from, contradictions } = read;
  return { record: recordOf(read, page.url, site), from, contradictions };
}
