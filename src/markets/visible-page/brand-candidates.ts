import type { Candidate } from '../candidates/candidates.ts';
import { attribute, type Element } from '../html/html.ts';
import { isElement } from '../html/html-tree.ts';
import { namesOf, shortText } from '../html/visible-text.ts';
import { anyOf } from '../patterns.ts';
import { brandName } from '../structured-data/brand.ts';
import { plainName } from '../structured-data/plain-name.ts';
import { brandLabels, brandNames, ownBrandLabels } from './brand-labels.ts';
import { pageCandidate } from './evidence.ts';
import { labelledTexts, maxLabelled } from './label-candidates.ts';
import { headingLevel } from './other-products.ts';
import { isInCard } from './product-card.ts';
import type { VisiblePage } from './visible-page.ts';

/** Maximum elements with the name of a brand that are considered. */
const maxNamed = 30;

/** A brand that a page shows. */
interface ShownBrand {
  value: string;
  text: string;
  element: Element;
}

/** Links to other products of a brand after its name: "Kiln | More from Kiln". */
const moreProducts = /\s*\|.*$/;

/** Texts of choices between brands. */
const choiceWords = anyOf(
  ['(?:all|any|select|choose)(?: (?:a |the )?brands?)?', '(?:view|show|see|shop) all(?!\\p{L}).*'],
  { flags: 'iu', before: '^', after: '$' },
);

/** Returns a text as a brand. None for a choice, and for the heading of a list of brands. */
function shownBrand(text: string, element: Element): ShownBrand[] {
  const value = brandName(text.replace(moreProducts, ''));
  if (value === null || choiceWords.test(value)) return [];
  return brandLabels.test(plainName(value).trim()) ? [] : [{ value, text, element }];
}

/** Returns the text of an element, otherwise that of the first picture in it. */
function textOf(element: Element): string | null {
  const text = shortText(element, maxLabelled);
  if (text !== null || element.children.length > 3) return text;
  const elements = [element, ...element.children].filter(isElement);
  return attribute(
    elements.find(({ name }) => name === 'img'),
    'alt',
  );
}

/** Returns the brands in elements that are named as such, apart from those of other products. */
function namedBrands(page: VisiblePage): ShownBrand[] {
  const found: ShownBrand[] = [];
  for (const element of page.fields) {
    if (found.length >= maxNamed) break;
    if (!brandNames.test(namesOf(element)) || isInCard(element, page)) continue;
    found.push(...shownBrand(textOf(element) ?? '', element));
  }
  return found;
}

/** A brand after a label, and the text that starts with the label. */
interface LabelledBrand extends ShownBrand {
  label: string;
}

/** Returns the brands after labels. */
function labelledBrands(page: VisiblePage): LabelledBrand[] {
  const found: LabelledBrand[] = [];
  for (const { label, text, element } of labelledTexts(page, brandLabels))
    for (const brand of shownBrand(text, element)) found.push({ ...brand, label });
  return found;
}

/** Maximum words of a brand that nothing but its label confirms. */
const maxWords = 5;

/**
 * Returns true for a brand below the heading of the product that is no sentence, such as one below
 * the heading of a text about the brand.
 */
function isPlainBrand({ value, label, element }: LabelledBrand, page: VisiblePage): boolean {
  const { heading, ranges } = page;
  if (heading === null || ranges.get(element)!.start < ranges.get(heading)!.start) return false;
  const isSentence = /[.!?…]$/.test(value) || value.split(' ').length > maxWords;
  return ownBrandLabels.test(label) && !isSentence && headingLevel(element) === null;
}

/**
 * Returns the candidates of the brand of a page: after labels, and in elements that are named as
 * such. The name of the product confirms them, as does the only label of a brand below the heading.
 */
export function brandCandidates(page: VisiblePage, titles: readonly string[]): Candidate[] {
  const heading = page.heading === null ? null : shortText(page.heading, 300);
  const names = [...titles, heading].map(plainName);
  const isNamed = ({ value }: ShownBrand) => names.some((name) => name.includes(plainName(value)));
  const labelled = labelledBrands(page);
  const isOnly = new Set(labelled.map(({ value }) => plainName(value))).size === 1;
  // The title of a page can end with the name of the shop.
  const inHeading = namedBrands(page).filter(({ value }) =>
    plainName(heading).includes(plainName(value)),
  );
  const sources: [source: string, brands: readonly ShownBrand[]][] = [
    ['label', labelled],
    ['name', labelled.filter(isNamed)],
    ['only label', isOnly ? labelled.filter((brand) => isPlainBrand(brand, page)) : []],
    ['element', inHeading],
    ['heading', inHeading],
  ];
  return sources.flatMap(([source, brands]) =>
    brands.map(({ value, text, element }) =>
      pageCandidate({
        field: 'brand',
        value,
        source,
        text,
        element,
      }),
    ),
  );
}
