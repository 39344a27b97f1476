import type { Element } from '../html/html.ts';
import { namesOf, upwards } from '../html/visible-text.ts';
import { anyOf } from '../patterns.ts';
import { type ElementRange, firstFrom } from './positions.ts';

/** Positions of links that cards of other products have. */
export interface CardLinks {
  /** Headings in links, or with links in them. */
  readonly headings: readonly { at: number }[];
  /** Links with a picture to another page. */
  readonly pictures: readonly { at: number }[];
  /** Adds the position of an element if it is such a link. */
  add(element: Element, at: number): void;
}

const isLink = ({ name, attribs }: Element): boolean => name === 'a' && Boolean(attribs.href);

function isLinkedHeading(element: Element): boolean {
  if (!/^h[2-6]$/.test(element.name)) return false;
  const isInLink = [...upwards(element, 3)].some(isLink);
  return isInLink || element.children.slice(0, 5).some((node) => 'attribs' in node && isLink(node));
}

/** Returns true for a picture that links to a page. Pictures of the product link to larger ones. */
function isPictureLink(element: Element): boolean {
  if (element.name !== 'img') return false;
  const link = [...upwards(element, 4)].find(isLink);
  return (
    link !== undefined &&
    !/^(?:#|javascript:)|\.(?:jpe?g|png|webp|gif)(?:[?#]|$)/i.test(link.attribs.href!)
  );
}

/** Creates an empty list of links. */
export function createCardLinks(): CardLinks {
  const [headings, pictures]: { at: number }[][] = [[], []] as const;
  return {
    headings,
    pictures,
    add(element, at) {
      if (isLinkedHeading(element)) headings.push({ at });
      else if (isPictureLink(element)) pictures.push({ at });
    },
  };
}

const cardNames = anyOf(
  [
    'card',
    'tile',
    'thumb(?:nail)?',
    '(?:grid|list|product|prod)[_-]?(?:item|layout|card|tile|thumb|box|miniature)',
  ],
  { flags: 'i', before: '(?:^|[\\s_-])', after: '(?=$|[\\s_-])' },
);

const isCardElement = (element: Element): boolean =>
  element.name === 'li' || element.name === 'article' || cardNames.test(namesOf(element));

/** Maximum elements around another one that can be the card of another product. */
const maxCardDepth = 8;

/** Parts of a page that isInCard() needs. */
interface CardPage {
  heading: Element | null;
  cardLinks: CardLinks;
  ranges: ReadonlyMap<Element, ElementRange>;
}

/** Returns the elements around one that can be a card, below the one with the page's heading. */
function* possibleCards(element: Element, { heading, ranges }: CardPage): Generator<Element> {
  if (heading === null) return;
  const at = ranges.get(heading)!.start;
  for (const outer of upwards(element, maxCardDepth)) {
    const { start, end } = ranges.get(outer)!;
    if (start <= at && at <= end) return;
    yield outer;
  }
}

/** Returns true if an element contains one of the positions. */
function containsAny(
  element: Element,
  links: readonly { at: number }[],
  { ranges }: CardPage,
): boolean {
  const { start, end } = ranges.get(element)!;
  const first = links[firstFrom(links, start)];
  return first !== undefined && first.at <= end;
}

/**
 * Returns true for an element in the card of another product: without the heading of the page, but
 * with a linked heading, or an item of a list with a linked picture.
 */
export function isInCard(element: Element, page: CardPage): boolean {
  const { headings, pictures } = page.cardLinks;
  return possibleCards(element, page).some(
    (outer) =>
      containsAny(outer, headings, page) ||
      (isCardElement(outer) && containsAny(outer, pictures, page)),
  );
}

/** Returns true for an element in an item of a list that isInCard() takes for another product. */
export function isInListItem(element: Element, page: CardPage): boolean {
  const { headings, pictures } = page.cardLinks;
  return possibleCards(element, page).some(
    (outer) =>
      isCardElement(outer) &&
      (containsAny(outer, headings, page) || containsAny(outer, pictures, page)),
  );
}
