import { type Element, outwards } from '../html.ts';

/** Sorts of offers that a page can make side by side. */
export type OfferKind = 'new' | 'used' | 'subscription' | 'member';

/** Kinds in the order in which they stand for the product: never the one for members only (decisions,
 *  "E product"). */
export const offerKinds: readonly OfferKind[] = ['new', 'used', 'subscription'];

const patterns: readonly (readonly [OfferKind, RegExp])[] = [
  ['member', /prime|member|upsell|unlimited|audible/i],
  ['subscription', /sns|subscri/i],
  ['used', /used|renewed|refurb|collectible/i],
];

/** The kind of offer that a name of a row or of a buying option stands for. */
export function kindNamed(name: string): OfferKind {
  return patterns.find(([, pattern]) => pattern.test(name))?.[0] ?? 'new';
}

/** Which offer a part of the page belongs to: by the row of the buy box that it stands in, which its own
 *  and its surroundings' names give away. Outside any row it is the page's one offer: new. */
export function offerKind(element: Element): OfferKind {
  for (const { attribs } of outwards(element)) {
    const id = attribs.id ?? '';
    const row = /accordionrow(?!s)/i.test(id) || /^used/i.test(id) ? id : undefined;
    const name = attribs['data-csa-c-buying-option-type'] ?? row;
    if (name !== undefined) return kindNamed(name);
  }
  return 'new';
}

/** The elements of an offer, or, where it has none of its own, all that are not for members only. */
export function ofOffer(elements: readonly Element[], kind: OfferKind): Element[] {
  const own = elements.filter((element) => offerKind(element) === kind);
  return own.length > 0 ? own : elements.filter((element) => offerKind(element) !== 'member');
}
