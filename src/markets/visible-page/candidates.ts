import type { Candidate } from '../candidates/candidates.ts';
import type { Element } from '../html/html.ts';
import { shortText } from '../html/visible-text.ts';
import { plainName } from '../structured-data/plain-name.ts';
import { brandCandidates } from './brand-candidates.ts';
import { breadcrumbCandidates } from './breadcrumb-candidates.ts';
import { pageCandidate } from './evidence.ts';
import { gtinCandidates } from './label-candidates.ts';
import { type PriceFacts, priceCandidates } from './price-candidates.ts';
import { skuCandidates } from './sku-candidates.ts';
import { availabilityCandidates } from './stock-candidates.ts';
import { isMainPart, mainControl, type VisiblePage } from './visible-page.ts';

/** Facts about a page that its reader is given. */
export interface PageFacts extends PriceFacts {
  url: string;
  /** Names of the page and of its product. */
  titles: readonly string[];
}

const maxTitle = 300;
/** Maximum elements of a heading that are compared with titles. */
const maxHeadingParts = 10;

/**
 * Returns the text of a heading that is part of a title: its whole text, otherwise that of the
 * elements in it, such as a brand and a name.
 */
function titledText(heading: Element, titles: readonly string[]): string | null {
  const isTitled = (text: string | null): text is string =>
    text !== null &&
    (text.length > 3
      ? titles.some((title) => title.toLowerCase().includes(text.toLowerCase()))
      : isMainPart(plainName(text), titles));
  const text = shortText(heading, maxTitle);
  if (isTitled(text)) return text;
  const inner = heading.children.filter((node) => 'attribs' in node).slice(0, maxHeadingParts);
  const parts = inner.map((element) => shortText(element, maxTitle)).filter(isTitled);
  return [...new Set(parts)].join(' ') || null;
}

function titleCandidates({ heading, fields }: VisiblePage, titles: readonly string[]): Candidate[] {
  if (heading === null) return [];
  const titled = titledText(heading, titles);
  const value = titled ?? shortText(heading, maxTitle);
  if (value === null) return [];
  const isOnly = heading.name === 'h1' && fields.filter(({ name }) => name === 'h1').length === 1;
  const title = {
    field: 'title',
    value,
    text: value,
    element: heading,
  };
  const found = [pageCandidate({ ...title, source: 'heading' })];
  if (titled !== null) found.push(pageCandidate({ ...title, source: 'title' }));
  else if (isOnly) found.push(pageCandidate({ ...title, source: 'only h1' }));
  return found;
}

/** Returns the visible values of a page's product. */
export function pageCandidates(page: VisiblePage, facts: PageFacts): Candidate[] {
  const control = mainControl(page);
  const prices = priceCandidates(page, control, facts);
  return [
    ...titleCandidates(page, facts.titles),
    ...prices.found,
    ...availabilityCandidates(page, control, prices),
    ...skuCandidates(page, facts.url),
    ...brandCandidates(page, facts.titles),
    ...gtinCandidates(page),
    ...breadcrumbCandidates(page, facts),
  ];
}
