import type { Candidate } from '../candidates/candidates.ts';
import { onlyOf } from '../fields.ts';
import { attribute, type Element } from '../html/html.ts';
import type { Node } from '../html/html-tree.ts';
import { isHidden, namesOf, shortText, upwards } from '../html/visible-text.ts';
import { addressOn } from '../structured-data/offer.ts';
import { plainName, sharesWord } from '../structured-data/plain-name.ts';
import { categoryOf, type TrailStep } from '../structured-data/product.ts';
import { backWords, breadcrumbNames } from './element-names.ts';
import { pageCandidate } from './evidence.ts';
import type { VisiblePage } from './visible-page.ts';

/** Facts about a page that the reader of its path of categories is given. */
export interface BreadcrumbFacts {
  url: string;
  /** Names of the page and of its product. */
  titles: readonly string[];
}

const isBreadcrumb = (element: Element): boolean =>
  breadcrumbNames.test(`${namesOf(element)} ${element.attribs['aria-label']?.slice(0, 100) ?? ''}`);

/** Maximum elements with the name of a path, nodes and links in one, and characters of a link. */
const maxPaths = 10;
const maxNodes = 150;
const maxSteps = 10;
const maxStep = 80;
/** Maximum elements around a path that can hide it. */
const maxDepth = 100;
/** Minimum links of a path: one can lead anywhere. */
const minSteps = 2;

/** Texts of a path: its links, and the texts beside them that are no separators. */
interface PathTexts {
  steps: TrailStep[];
  otherTexts: { text: string; isLast: boolean }[];
}

/** Returns the texts of a path, or null for an element that contains more than one. */
function pathTexts(path: Element, url: string): PathTexts | null {
  const found: PathTexts = { steps: [], otherTexts: [] };
  let nodesLeft = maxNodes;
  const addText = (text: string | null) => {
    if (text !== null && /[\p{L}\p{N}]/u.test(text)) found.otherTexts.push({ text, isLast: true });
  };
  const addStep = (link: Element) => {
    const name = shortText(link, maxStep);
    if (name === null || backWords.test(name)) return;
    for (const other of found.otherTexts) other.isLast = false;
    found.steps.push({ name, address: addressOn(url, attribute(link, 'href'), null) });
  };
  const visit = (node: Node): void => {
    nodesLeft -= 1;
    if (nodesLeft < 0) return;
    if (node.type === 'text') addText(node.data.trim());
    if (!('attribs' in node) || isHidden(node)) return;
    if (node.name === 'a' && node.attribs.href) addStep(node);
    else node.children.forEach(visit);
  };
  path.children.forEach(visit);
  return nodesLeft < 0 || found.steps.length > maxSteps ? null : found;
}

/**
 * Returns the category of a path whose only other text is the name of the product after its links.
 * A text between them is a step without a link, and one of something else can be part of it.
 */
function categoryIn(path: Element, { url, titles }: BreadcrumbFacts): string | null {
  const { steps, otherTexts } = pathTexts(path, url) ?? { steps: [], otherTexts: [] };
  const names = titles.map(plainName);
  const isProduct = ({ text, isLast }: PathTexts['otherTexts'][number]) =>
    isLast && sharesWord(plainName(text), names);
  if (steps.length < minSteps || otherTexts.length > 1 || !otherTexts.every(isProduct)) return null;
  return categoryOf(steps, url, titles);
}

/** Returns the candidates of the path of categories that a page shows, if it shows only one. */
export function breadcrumbCandidates(
  { ranges, heading }: VisiblePage,
  { url, titles }: BreadcrumbFacts,
): Candidate[] {
  const title = heading === null ? null : shortText(heading, maxStep);
  const facts = { url, titles: title === null ? titles : [...titles, title] };
  const paths: Element[] = [];
  for (const element of ranges.keys()) {
    if (paths.length >= maxPaths) break;
    if (isBreadcrumb(element)) paths.push(element);
  }
  const visiblePaths = paths.filter((path) => ![...upwards(path, maxDepth)].some(isHidden));
  const categories = visiblePaths.map((path) => categoryIn(path, facts));
  const value = onlyOf(categories.filter((category) => category !== null));
  if (value === null) return [];
  const category = { field: 'category', value, text: value, element: null };
  return ['breadcrumb', 'links'].map((source) => pageCandidate({ ...category, source }));
}
