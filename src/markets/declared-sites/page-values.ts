import type { Json } from '../../base/json.ts';
import { type Candidate, type FieldResolution, resolve } from '../candidates/candidates.ts';
import { number, onlyOf, text } from '../fields.ts';
import { attribute, type Element, find, findAll, words, workOf } from '../html/html.ts';
import { pageStates, stateCandidates } from '../page-state/state-candidates.ts';
import { offerCountSource, structuredCandidates } from '../structured-data/candidates.ts';
import { addressOn } from '../structured-data/offer.ts';
import { plainName } from '../structured-data/plain-name.ts';
import { isPlaceholder } from '../structured-data/structured-data.ts';
import { pageCandidates } from '../visible-page/candidates.ts';
import {
  previewCandidates,
  type ShownPictures,
  shownPictures,
  withoutOtherPictures,
} from '../visible-page/own-pictures.ts';
import { mainControl, type VisiblePage, visiblePage } from '../visible-page/visible-page.ts';
import { hasUndecoded, type SitePage } from './site-page.ts';

/** Returns the currency of a product if all candidates that have one agree. */
const onlyCurrency = (candidates: readonly Candidate[]): string | null =>
  onlyOf(candidates.filter(({ field }) => field === 'currency').map(({ value }) => text(value)));

/** What a page shows, and what it states about its product, from all formats and places. */
interface PageContents {
  visible: VisiblePage;
  candidates: Candidate[];
}

function contentsOf(page: SitePage): PageContents {
  const { root } = page.html;
  const titles = findAll(root, 'h1, title').map((element) => words(element));
  titles.push(attribute(find(root, 'meta[property="og:title"]'), 'content'));
  const stated = structuredCandidates(page.data, page.url, titles);
  const pageNames = [words(find(root, 'title')), titles.at(-1) ?? null];
  const productName = text(stated.find(({ field }) => field === 'title')?.value);
  const names = [productName, ...pageNames].filter((name) => name !== null);
  const visible = visiblePage(page.html, names);
  const descriptions = findAll(root, 'meta[property="og:description"], meta[name="description" i]');
  const description = descriptions.map((element) => attribute(element, 'content')).join('\n');
  const headings = visible.heading === null ? [] : [words(visible.heading) ?? ''];
  const embedded = pageStates(page.html, visible.fields);
  const states = stateCandidates(embedded, [...names, ...headings], page.url, workOf(root));
  const home = page.site.currency ?? onlyCurrency(stated) ?? onlyCurrency(states);
  const visibleCandidates = pageCandidates(visible, {
    url: page.url,
    titles: names,
    home,
    description,
    statedPrices: new Set(
      stated.filter(({ field }) => field === 'price').map(({ value }) => value),
    ),
  });
  const pictures = shownPictures(visible, page.url, page.base);
  const preview = attribute(find(root, 'meta[property="og:image"]'), 'content');
  return {
    visible,
    candidates: [
      ...stated.map((candidate) =>
        withHeading(withOwnPictures(candidate, pictures), visible.heading),
      ),
      ...states,
      ...visibleCandidates,
      ...previewCandidates(addressOn(page.url, preview, page.base), pictures),
    ],
  };
}

/**
 * Returns the candidate of the title for previews as the heading writes it: such a title can also
 * have the name of the shop, and it can be cut.
 */
function withHeading(candidate: Candidate, heading: Element | null): Candidate {
  const { field, source, value } = candidate;
  if (field !== 'title' || source !== 'opengraph' || heading?.name !== 'h1') return candidate;
  const headingText = words(heading);
  const [title, name] = [plainName(text(value)), plainName(headingText)];
  const isSame = name.trim() !== '' && (title.includes(name) || name.includes(title));
  return isSame ? { ...candidate, value: headingText } : candidate;
}

/** Formats whose pictures can be those of elements around the product. */
const elementFormats: ReadonlySet<string> = new Set(['microdata', 'rdfa']);

/** Returns a candidate without pictures that the page shows for other products. */
function withOwnPictures(candidate: Candidate, pictures: ShownPictures): Candidate {
  const { field, source, value } = candidate;
  if (field !== 'images' || !elementFormats.has(source)) return candidate;
  return { ...candidate, value: withoutOtherPictures(value, pictures) };
}

/** Minimum controls for purchases in cards that are a list of products. */
const minCards = 3;

/** Fields that only one product has, not a category. */
const ownFields: ReadonlySet<string> = new Set(['sku', 'gtin', 'mpn', 'brand']);

/**
 * Returns true for a page that can only buy products of a list, and for one that states nothing of
 * a product but its name and a range of several offers, as categories do. `availability`: that of
 * the product, which comparisons of shops have.
 */
function isList({ visible, candidates }: PageContents, availability: Json): boolean {
  if (mainControl(visible) !== null) return false;
  const stated = candidates.filter(({ rung, value }) => rung === 'structured' && value !== null);
  const prices = stated.filter(({ field }) => field === 'price');
  if (prices.length === 0) return visible.controls.length >= minCards;
  const isRange = prices.every(({ offer }) => offer === 'aggregate');
  const isCounted = candidates.some(({ source }) => source.endsWith(offerCountSource));
  const isOwn = availability !== null || stated.some(({ field }) => ownFields.has(field));
  return isRange && isCounted && !isOwn;
}

/** Values of a page that were read without its site's declaration. */
export interface PageValues {
  /** Decided value of each field. */
  resolutions: ReadonlyMap<string, FieldResolution>;
  /** Amounts of all prices of the product, also of those that were not taken. */
  prices: readonly number[];
  /** True for a page that shows a list of products. */
  isList: boolean;
}

/** Values of an element without structured data. */
export const noValues: PageValues = { resolutions: new Map(), prices: [], isList: false };

/**
 * Returns the candidates of the visible price that contradict its currency in structured data. A
 * sign of several currencies, such as "$", contradicts none of them.
 */
function otherCurrencies(
  { value, currency }: FieldResolution,
  prices: readonly Candidate[],
): Candidate[] {
  if (currency === null) return [];
  return prices.filter(
    (price) =>
      price.rung === 'page' &&
      price.value === value &&
      price.currency !== null &&
      price.currency !== currency,
  );
}

/** Decides the value of each field of a page's product. */
export function resolvePage(page: SitePage): PageValues {
  const contents = contentsOf(page);
  const candidates = contents.candidates.filter(
    ({ value }) => !hasUndecoded(page, value) && !isPlaceholder(text(value) ?? ''),
  );
  const byField = Map.groupBy(candidates, ({ field }) => field);
  const prices = byField.get('price') ?? [];
  const price = resolve('price', prices);
  const isOfPrice = (candidate: Candidate) => candidate.price === price.value;
  const resolutions = new Map(
    [...byField].map(([field, values]) => [
      field,
      resolve(field, field === 'list_price' ? values.filter(isOfPrice) : values),
    ]),
  );
  const contradictions = otherCurrencies(price, prices);
  if (contradictions.length > 0) {
    resolutions.set('price', { ...price, currency: null });
    resolutions.set('currency', { ...price, value: null, contradictions });
  }
  return {
    resolutions,
    prices: prices.map(({ value }) => number(value)).filter((amount) => amount !== null),
    isList: isList(contents, resolutions.get('availability')?.value ?? null),
  };
}
