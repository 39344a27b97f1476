import type { Candidate } from '../candidates/candidates.ts';
import type { Element } from '../html/html.ts';
import { shortText } from '../html/visible-text.ts';
import { pageCandidate } from './evidence.ts';
import { type PriceFacts, priceCandidates } from './price-candidates.ts';
import { skuCandidates } from './sku-candidates.ts';
import { availabilityCandidates } from './stock-candidates.ts';
import { mainControl, type VisiblePage } from './visible-page.ts';

/** Facts about a page that its reader is given. */
export interface PageFacts extends PriceFacts {
  url: string;
  /** Names of the page and of its product. */
  titles: readonly string[];
}

/** Returns the first text of a heading or of an element in it that is part of a title. */
function titledText(heading: Element, titles: readonly string[]): string | null {
  const inner = heading.children.filter((node) => 'attribs' in node);
  for (const element of [heading, ...inner.slice(0, 10)]) {
    const text = shortText(element, 300)?.toLowerCase();
    if (text && text.length > 3 && titles.some((title) => title.toLowerCase().includes(text)))
      return shortText(element, 300);
  }
  return null;
}

function titleCandidates({ heading, fields }: VisiblePage, titles: readonly string[]): Candidate[] {
  if (heading === null) return [];
  const titled = titledText(heading, titles);
  const value = titled ?? shortText(heading, 300);
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
  ];
}
