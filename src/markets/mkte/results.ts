import type { JsonObject } from '../../base/json.ts';
import { absoluteUrl, firstOf } from '../fields.ts';
import {
  attribute,
  type Element,
  find,
  findAll,
  type HtmlPage,
  hasClass,
  oneLine,
  outwards,
  words,
} from '../html/html.ts';
import { anyOf } from '../patterns.ts';
import { asinIn, readCardPrice } from './card-price.ts';
import { exactCount, ratingText, roughCount } from './numbers.ts';
import { asinPattern } from './variants.ts';

/** Prefixes of a sponsored result's accessible title, by language. */
const adPrefix = anyOf(
  [
    'sponsored ad',
    'gesponserte anzeige',
    'anzeige',
    'annonce sponsorisée',
    'publicité sponsorisée',
    'annuncio sponsorizzato',
    'anuncio patrocinado',
    'スポンサー広告',
  ],
  { flags: 'i', before: '^', after: '\\s*[-–—:：]\\s*' },
);
/** Label of a sponsored result, by language. */
const adLabel = anyOf(
  [
    'sponsored',
    'gesponsert',
    'anzeige',
    'sponsorisé',
    'sponsorizzato',
    'patrocinado',
    'スポンサー',
    'スポンサー広告',
    '广告',
    '贊助',
  ],
  { flags: 'i', before: '^', after: '$' },
);
const primeLabel = /^(?:amazon[ .]?)?(?:prime|プライム)(?:[ -]eligible)?$/i;

/**
 * Returns the results of a page in its order, without carousels. Selectors: newest markup first.
 */
export function resultElements(page: HtmlPage): Element[] {
  for (const selector of [
    '[data-component-type="s-search-result"][data-asin]',
    '.s-result-item[data-asin]',
    'li[id^="result_"][data-asin]',
  ]) {
    const found = findAll(page.root, selector).filter(({ attribs }) =>
      asinPattern.test(attribs['data-asin']!),
    );
    if (found.length > 0) return found;
  }
  return [];
}

function holds(element: Element, selector: string): boolean {
  return find(element, selector) !== undefined;
}

/** Returns the product link of a result: a plain path, or a redirect with the path in its query. */
function linkOf(result: Element): string | null {
  const links = findAll(result, 'a[href]').map((link) => attribute(link, 'href') ?? '');
  return links.find((href) => /\/(?:dp|gp\/product)\/|[?&]url=/.test(href)) ?? null;
}

/** Returns the path of a link without its origin; for a redirect, the path of its target. */
function pathOf(href: string): string | null {
  const base = 'http://store.invalid';
  if (!URL.canParse(href, base)) return null;
  const url = new URL(href, base);
  const target = url.searchParams.get('url');
  if (target !== null && URL.canParse(target, base)) {
    const { pathname, search } = new URL(target, base);
    return pathname + search;
  }
  const embedded = url.pathname.lastIndexOf('/https:');
  if (embedded >= 0) return pathOf(url.pathname.slice(embedded + 1) + url.search);
  return url.pathname + url.search;
}

/**
 * Returns the heading with the title: the accessible one if brand and badges have headings too,
 * otherwise the last one that links to the product.
 */
function titleHeading(result: Element): Element | undefined {
  const headings = findAll(result, 'h2');
  const linked = headings.filter(
    (heading) =>
      holds(heading, 'a[href]') ||
      [...outwards(heading)].some(({ name, attribs }) => name === 'a' && 'href' in attribs),
  );
  return (
    headings.find((heading) => attribute(heading, 'aria-label') !== null) ??
    linked.at(-1) ??
    headings.at(-1)
  );
}

/** Returns the visible title, or the accessible one if the visible title is truncated. */
function readTitle(result: Element, heading: Element | undefined): string | null {
  const label =
    attribute(heading, 'aria-label') ??
    attribute(find(result, 'img.s-image, img.s-access-image'), 'alt');
  const spoken = label === null ? null : oneLine(label.replace(adPrefix, ''));
  const title = words(heading)?.replace(adPrefix, '') ?? null;
  if (title === null || (/(?:…|\.{3})$/.test(title) && spoken !== null)) return spoken;
  return title;
}

function readBrand(result: Element, heading: Element | undefined): string | null {
  const recipe = find(result, '[data-cy="title-recipe"]');
  const other = findAll(recipe, 'h2').find((candidate) => candidate !== heading);
  return words(other) ?? words(find(result, 'h5 .a-size-base, h5.s-line-clamp-1'));
}

/** Returns the stars of a result: the first icon with a rating as its text. */
function starsOf(result: Element): Element | undefined {
  return findAll(result, '.a-icon-alt').find((icon) => ratingText(words(icon)) !== null);
}

/** Labels and texts with a number that is no number of ratings. */
const otherCounts = /\b(?:sizes?|colou?rs?|options?|bought|months?|stars?|left|more|new|used)\b/i;

/** Accessible label of a count: it starts with its only number. */
function isCountLabel(label: string): boolean {
  if (otherCounts.test(label)) return false;
  return /^\(?\d/.test(label) && label.match(/\d+(?:[.,'’\s]\d+)*/g)?.length === 1;
}

const countLinks = 'a[href*="ustomerReviews"], .s-underline-text, a.a-link-normal';
const linkedCount = /^\(?(\d[\d.,'’\s]*(?:[KM万]|mil|mila)?)\+?\)?$/i;

/**
 * Returns the number of ratings: from the label, which is exact, otherwise from the text, which can
 * be abbreviated ("84.7K").
 */
function countOf(result: Element, stars: Element): string | null {
  const row = [...outwards(stars)].find((outer) => hasClass(outer, 'a-row'));
  const block = find(result, '[data-cy="reviews-block"]') ?? row;
  const labelled = findAll(block, '[aria-label]');
  const labels = labelled.map((element) => attribute(element, 'aria-label') ?? '');
  const exact = firstOf(labels.filter(isCountLabel), exactCount);
  if (exact !== null) return exact;
  for (const link of findAll(block, countLinks)) {
    const countText = linkedCount.exec(words(link) ?? '')?.[1];
    const isCount = countText !== undefined && roughCount(countText) !== null;
    // "4.3" beside the stars is the rating.
    if (isCount) return exactCount(countText) ?? countText.trim();
  }
  return null;
}

/**
 * Returns the address of an image that may load later: its `src` is then a placeholder in the page
 * itself.
 */
function thumbnailOf(image: Element | undefined): string | null {
  const urls = ['src', 'data-src', 'srcset'].map(
    (name) => attribute(image, name)?.split(/[\s,]/)[0],
  );
  return firstOf(urls, (url) => absoluteUrl(url));
}

function isSponsored(result: Element, heading: Element | undefined, href: string | null): boolean {
  if (hasClass(result, 'AdHolder') || /\/sspa\/|picassoRedirect|aax-/.test(href ?? '')) return true;
  if (holds(result, '[data-component-type="sp-sponsored-result"]')) return true;
  if (adPrefix.test(attribute(heading, 'aria-label') ?? '')) return true;
  const labels = findAll(result, '.a-color-secondary, [class*="sponsored" i], [class*="label" i]');
  return labels.some((label) => adLabel.test(words(label) ?? ''));
}

function isPrime(result: Element): boolean {
  if (holds(result, 'i.a-icon-prime')) return true;
  if (findAll(result, '.a-icon-alt').some((icon) => primeLabel.test(words(icon) ?? '')))
    return true;
  return findAll(result, 'i[aria-label], span[aria-label]').some(({ attribs }) =>
    primeLabel.test(attribs['aria-label']!.trim()),
  );
}

/**
 * Returns a result with the documented fields: price, rating and count as text ("$25.18", "4.5",
 * "84753"), null if the page has none; `url` is a path on the store. For a sponsored result it is
 * the path of the redirect's target. A `brand` with its own heading is kept. Prices:
 * readCardPrice().
 */
export function readEntry(result: Element, home: string | null): JsonObject {
  const asin = result.attribs['data-asin']!;
  const heading = titleHeading(result);
  const href = linkOf(result);
  const linkAsin = asinIn(href);
  const asins = new Set(linkAsin === null ? [asin] : [asin, linkAsin]);
  const { price, original, currency } = readCardPrice(result, asins, home);
  const stars = starsOf(result);
  return {
    asin,
    title: readTitle(result, heading),
    price,
    original_price: original,
    currency,
    rating: stars ? ratingText(words(stars)) : null,
    review_count: stars ? countOf(result, stars) : null,
    thumbnail: thumbnailOf(find(result, 'img.s-image, img.s-access-image')),
    url: (href === null ? null : pathOf(href)) ?? `/dp/${asin}`,
    is_prime: isPrime(result),
    is_sponsored: isSponsored(result, heading, href),
    brand: readBrand(result, heading),
  };
}
