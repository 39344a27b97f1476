import type { JsonObject } from '../../base/json.ts';
import { readAvailability } from '../availability/availability.ts';
import {
  allById,
  attribute,
  byId,
  type Element,
  find,
  findAll,
  firstWords,
  type HtmlPage,
  hasClass,
  words,
} from '../html/html.ts';
import { anyOf } from '../patterns.ts';
import { exactCount, ratingIn, roughCount } from './numbers.ts';
import { type OfferKind, ofOffer } from './offers.ts';

const titleIds = [
  'productTitle',
  'ebooksProductTitle',
  'gc-asin-title',
  'btAsinTitle',
  'product-title',
  'title',
];

/** Returns the product's title. */
export function readTitle(page: HtmlPage): string | null {
  return firstWords(titleIds.flatMap((id) => allById(page, id)));
}

/** Bylines that name a brand, by language. The group is the brand. */
const bylines: readonly RegExp[] = [
  /^visit the (.+) store$/i,
  /^besuche(?:n sie)? den (.+?)[- ]store$/i,
  /^visite[rz] la boutique (?:de )?(.+)$/i,
  /^visita lo store (?:di )?(.+)$/i,
  /^visita (?:la tienda|la store|el store) de (.+)$/i,
  /^(.+?)\s?(?:の)?ストアを表示$/,
  /^(?:访问|造訪|查看)\s?(.+?)\s?(?:店铺|商店|品牌旗舰店)$/,
  /^(?:brand|marke|marca|marque|ブランド|品牌|merk|märke|marka)\s?[:：]\s?(.+)$/i,
];

/** Names of the brand in tables, by language. */
const brandNames = anyOf(
  [
    'brand(?: name)?',
    'marke',
    'markenname',
    'marca',
    'marque',
    'nom de (?:la )?marque',
    'nombre de (?:la )?marca',
    'nome del marchio',
    'marchio',
    'ブランド(?:名)?',
    '品牌',
  ],
  { flags: 'i', before: '^', after: '$' },
);

/** Programmes and shops of the market itself, which bylines name in place of a brand. */
const programmes = anyOf(
  [
    'renewed(?: premium)?',
    'refurbished',
    'reconditionné',
    'ricondizionati?',
    'reacondicionados?',
    'warehouse(?: deals)?',
    'resale',
    'outlet',
    'second chance',
    'seconde main',
    'retourenkauf',
    'seconda mano',
    'segunda mano',
    'haul',
    'launchpad',
    'handmade',
    'global store',
    '整備済み品',
    'アウトレット',
  ],
  { flags: 'iu', before: '^amazon[ -]?', after: '$' },
);

/**
 * Returns the brand: from a table, otherwise from the byline if its wording names one, otherwise
 * from a byline that is only a link. Programmes of the market are no brands. Null for a book, whose
 * byline names its authors.
 */
export function readBrand(
  page: HtmlPage,
  specifications: readonly { name: string; value: string }[],
): string | null {
  const byline = byId(page, 'bylineInfo');
  const bylineText = words(byline) ?? '';
  const listed = specifications
    .filter(({ name }) => brandNames.test(name))
    .map(({ value }) => value);
  const named = bylines
    .map((pattern) => pattern.exec(bylineText)?.[1])
    .find((brand) => brand !== undefined);
  const link = named === undefined && byline?.name === 'a' ? words(byline) : null;
  const brands = [...listed, named ?? null, link, words(byId(page, 'brand'))];
  return brands.find((brand) => brand !== null && !programmes.test(brand.trim())) ?? null;
}

/** Returns the authors and other contributors of a book with their roles. */
export function readContributors(page: HtmlPage): JsonObject[] {
  return findAll(byId(page, 'bylineInfo'), '.author').flatMap((author) => {
    const name = firstWords([find(author, 'a.contributorNameID'), find(author, 'a')]);
    const role = words(find(author, '.contribution'))?.replace(/^\(|\)?,?$/g, '') ?? null;
    return name === null ? [] : [{ name, role }];
  });
}

/** Returns the category path of the product. */
export function readBreadcrumbs(page: HtmlPage): string[] {
  const links = findAll(byId(page, 'wayfinding-breadcrumbs_feature_div'), 'li a');
  const path = links.filter(({ attribs }) => attribs.id !== 'breadcrumb-back-link');
  return path.map((link) => words(link)).filter((name) => name !== null);
}

/** Returns the first text of the first block that has one. */
function firstText(blocks: readonly Element[]): string | null {
  for (const block of blocks) {
    const text = firstWords([...findAll(block, 'span'), block]);
    if (text !== null) return text;
  }
  return null;
}

/**
 * Returns the page's text about the offer's availability. Both texts of a page that has one for
 * each, so that the availability is unknown. Null if there is none.
 */
export function readStockText(page: HtmlPage, kind: OfferKind): string | null {
  const text = firstText([
    ...ofOffer(allById(page, 'availability'), kind),
    ...ofOffer(allById(page, 'availabilityInsideBuyBox_feature_div'), kind),
  ]);
  const soldOut = firstText(allById(page, 'outOfStock'));
  if (text === null || soldOut === null) return text ?? soldOut;
  const isContradicted = readAvailability(text).available === true;
  return isContradicted ? `${text}; ${soldOut}` : text;
}

/** Blocks of the average rating. Pages for touch screens have the second one. */
const reviewBlocks = ['averageCustomerReviews', 'acrCustomerReviewLink'];

/** Digits of a number of ratings: "1,204", "2.5K+". */
const countDigits = "\\d[\\d.,'’\\s]*[KMk万]?\\+?\\s*";
/** Number of ratings in brackets, and one with its unit. A rating is such a number without both. */
const bracketedCount = new RegExp(`^\\(\\s*${countDigits}\\)$`, 'iu');
const countWithUnit = anyOf(
  [
    '(?:global )?(?:customer )?(?:ratings?|reviews?)',
    'bewertung(?:en)?',
    '(?:sterne)?bewertung(?:en)?',
    'rezension(?:en)?',
    'évaluations?',
    'avis',
    'commentaires?',
    'recension[ei]',
    'valutazion[ei]',
    'valoraci(?:ón|ones)',
    'calificaci(?:ón|ones)',
    'opiniones',
    'reseñas?',
    'レビュー',
    '個の評価',
    '件(?:の.*)?',
  ],
  { flags: 'iu', before: `^${countDigits}`, after: '$' },
);

/**
 * Texts of the number of ratings in the link of pages for touch screens: "(201)", "1,204 ratings".
 */
function touchCounts(page: HtmlPage): (string | null)[] {
  const parts = findAll(byId(page, 'acrCustomerReviewLink'), 'span');
  const texts = parts
    .filter((part) => !hasClass(part, 'a-icon-alt'))
    .flatMap((part) => [attribute(part, 'aria-label'), words(part)]);
  return texts.filter(
    (text) => text !== null && (bracketedCount.test(text) || countWithUnit.test(text)),
  );
}

/** Returns the rating out of 5. Null for an unrated product. */
export function readRating(page: HtmlPage): number | null {
  for (const popover of allById(page, 'acrPopover')) {
    const rating = ratingIn(attribute(popover, 'title') ?? words(find(popover, '.a-icon-alt')));
    if (rating !== null) return rating;
  }
  const inBlocks = reviewBlocks.map((id) => ratingIn(words(find(byId(page, id), '.a-icon-alt'))));
  const rating = inBlocks.find((each) => each !== null);
  return rating ?? ratingIn(words(find(page.root, '[data-hook="rating-out-of-text"]')));
}

/** Returns the number of ratings. Null if the page states none. */
export function readReviewCount(page: HtmlPage): number | null {
  const countElements = allById(page, 'acrCustomerReviewText');
  const total = find(page.root, '[data-hook="total-review-count"]');
  const texts = [
    ...countElements.flatMap((element) => [attribute(element, 'aria-label'), words(element)]),
    ...touchCounts(page),
    words(total),
  ];
  const exact = texts.map(exactCount).find((count) => count !== null);
  return exact === undefined
    ? (texts.map(roughCount).find((count) => count !== null) ?? null)
    : Number(exact);
}

function isNote(bullet: Element): boolean {
  return (
    /fitment/i.test(bullet.attribs.id ?? '') ||
    find(bullet, '[id*="Fitment"]') !== undefined ||
    hasClass(bullet, 'aok-hidden')
  );
}

/** Returns the bullets about the product, without the note on vehicle compatibility. */
export function readFeatures(page: HtmlPage): string[] {
  for (const id of [
    'feature-bullets',
    'featurebullets_feature_div',
    'productFactsDesktopExpander',
    'productFactsDesktop_feature_div',
  ]) {
    for (const block of allById(page, id)) {
      const bullets = findAll(block, 'li').filter((bullet) => !isNote(bullet));
      const features = bullets.map((bullet) => words(bullet)).filter((feature) => feature !== null);
      if (features.length > 0) return features;
    }
  }
  return [];
}

function isHidden(element: Element): boolean {
  return hasClass(element, 'aok-hidden') || hasClass(element, 'a-icon-alt');
}

function tabbedDescriptions(page: HtmlPage): Element[] {
  return [...page.ids].flatMap(([id, blocks]) =>
    /TabbedDescriptionOverviewContent/.test(id) ? blocks : [],
  );
}

/**
 * Returns the description: the product's, otherwise the book's, otherwise the text of the
 * manufacturer's images.
 */
export function readDescription(page: HtmlPage): string | null {
  const book = byId(page, 'bookDescription_feature_div');
  const maker =
    byId(page, 'aplus_feature_div') ?? byId(page, 'aplus3p_feature_div') ?? byId(page, 'aplus');
  const blocks = [
    ...allById(page, 'productDescription'),
    find(book, '.a-expander-content'),
    find(book, 'noscript'),
    book,
    ...tabbedDescriptions(page),
  ];
  return firstWords(blocks) ?? words(maker, isHidden);
}
