import { type Element, outwards } from '../html/html.ts';
import { anyOf } from '../patterns.ts';

/** Types of offers on a page. */
export type OfferKind = 'new' | 'used' | 'subscription' | 'member';

/** Offer types in order of preference. Offers for members only and rentals are never used. */
export const offerKinds: readonly OfferKind[] = ['new', 'used', 'subscription'];

const namePatterns: readonly { kind: OfferKind; pattern: RegExp }[] = [
  { kind: 'member', pattern: /prime|member|upsell|unlimited|audible|^rent/i },
  { kind: 'subscription', pattern: /sns|subscri/i },
  { kind: 'used', pattern: /used|renewed|refurb|collectible/i },
];

/** Returns the offer type that the name of a row or of a buying option denotes. */
export function kindNamed(name: string): OfferKind {
  return namePatterns.find(({ pattern }) => pattern.test(name))?.kind ?? 'new';
}

/**
 * Returns the offer type of an element: the type of its row in the buy box, by the names of the row
 * and its ancestors. Outside of any row it is `new`.
 */
export function offerKind(element: Element): OfferKind {
  for (const { attribs } of outwards(element)) {
    const id = attribs.id ?? '';
    const option = attribs['data-csa-c-buying-option-type'];
    if (option !== undefined) return kindNamed(option);
    if (/accordionrow(?!s)|^(?:used|rent)/i.test(id)) return kindNamed(id);
  }
  return 'new';
}

/**
 * Returns the elements of an offer. Without any, returns all elements that are not for members
 * only.
 */
export function ofOffer(elements: readonly Element[], kind: OfferKind): Element[] {
  const own = elements.filter((element) => offerKind(element) === kind);
  if (own.length > 0) return own;
  return elements.filter((element) => offerKind(element) !== 'member');
}

/** Texts of trials, memberships and rentals beside a price, in the languages of the stores. */
const conditions: readonly RegExp[] = [
  anyOf(
    [
      'trial',
      'members?(?:hip)?',
      'subscription',
      'abo',
      'essai',
      'abonn\\p{L}+',
      'adhésion',
      'prova',
      'abbona\\p{L}+',
      'iscrizione',
      'prueba',
      'suscripci\\p{L}+',
      'membresía',
    ],
    {
      flags: 'iu',
      before: '\\b(?:with|for|mit|für|avec|pour|con|per|para)\\b.{0,60}\\b',
      after: '(?!\\p{L})',
    },
  ),
  /\bmit\b.{0,60}(?:probe\p{L}*|mitglied\p{L}*)/iu,
  anyOf(
    [
      'kindle unlimited',
      'exclusive prime price',
      'prime[- ]exclusive',
      'prime exclusive',
      'prix exclusif prime',
      'exklusiver prime',
      'prezzo esclusivo prime',
      'precio exclusivo prime',
    ],
    { flags: 'iu' },
  ),
  /会員|体験|メンバーシップ|読み放題|聴き放題/u,
  anyOf(
    [
      '\\bto rent\\b',
      '\\brental\\b',
      '\\b(?:zum )?(?:aus)?leihen\\b',
      '\\blocation\\b',
      '\\blouer\\b',
      '\\bnoleggi\\p{L}+',
      '\\balquil\\p{L}+',
      'レンタル',
    ],
    { flags: 'iu' },
  ),
];

/** Returns true for a text about a trial, a membership, or a rental. */
export function isConditionText(text: string): boolean {
  return conditions.some((condition) => condition.test(text));
}
