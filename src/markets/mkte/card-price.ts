import { firstOf } from '../fields.ts';
import { attribute, type Element, hasClass, oneLine, words } from '../html/html.ts';
import type { Node } from '../html/html-tree.ts';
import { priceAmount, priceCurrency } from '../money/money.ts';
import { anyOf } from '../patterns.ts';
import { isConditionText } from './offers.ts';
import { isPerUnit, priceText } from './price.ts';

/** Price of a result as the page shows it. */
export interface CardPrice {
  price: string | null;
  original: string | null;
  currency: string | null;
}

/**
 * One offer in a card: a format, a trial, a purchase. It begins at a price or at a link to another
 * product.
 */
interface CardOffer {
  /** Product that the offer links to. Null before the first link. */
  asin: string | null;
  price: string | null;
  struck: string | null;
  /** Lines of text beside the price. */
  notes: string[];
}

const unread: ReadonlySet<string> = new Set(['script', 'style', 'template', 'noscript', 'h2']);
const inline: ReadonlySet<string> = new Set([
  'a',
  'b',
  'em',
  'i',
  'small',
  'span',
  'strong',
  'sub',
  'sup',
]);
const priceClasses = ['a-price', 's-price', 'sx-price', 'a-text-strike'];

/** Marks links to the list of all sellers, whose prices are not the price of the card. */
const sellersList = 'offers';

/**
 * Returns the product that an address leads to, also behind a redirect. Null for other addresses.
 */
export function asinIn(href: string | null): string | null {
  if (href === null) return null;
  if (/offer-listing/.test(href)) return sellersList;
  const address = href.replace(/%2F/gi, '/');
  return /\/(?:dp|gp\/product|gp\/aw\/d)\/([A-Z0-9]{10})(?![A-Z0-9])/.exec(address)?.[1] ?? null;
}

function isPrice(element: Element): boolean {
  return priceClasses.some((name) => hasClass(element, name));
}

function isStruck(element: Element): boolean {
  return attribute(element, 'data-a-strike') === 'true' || hasClass(element, 'a-text-strike');
}

/** Reads the offers of a card in its order. */
class OfferReader {
  readonly offers: CardOffer[] = [];
  /**
   * Offers of the block below the card's own: other sellers and formats, and the purchase beside a
   * trial.
   */
  readonly secondaryOffers: CardOffer[] = [];
  private line = '';

  private open(asin: string | null): void {
    this.endLine();
    this.offers.push({
      asin,
      price: null,
      struck: null,
      notes: [],
    });
  }

  private get last(): CardOffer {
    if (this.offers.length === 0)
      this.offers.push({
        asin: null,
        price: null,
        struck: null,
        notes: [],
      });
    return this.offers.at(-1)!;
  }

  private endLine(): void {
    const note = oneLine(this.line);
    this.line = '';
    if (note !== null) this.last.notes.push(note);
  }

  private addPrice(element: Element): void {
    const text = priceText(element);
    if (isStruck(element)) this.last.struck ??= text;
    // A text price that is not struck is a price per unit.
    const isOther = hasClass(element, 'a-text-price') || isPerUnit(element);
    if (isStruck(element) || isOther || text === null) return;
    if (this.last.price !== null) this.open(this.last.asin);
    this.last.price = text;
  }

  private addLink(element: Element): void {
    const asin = asinIn(attribute(element, 'href'));
    // Pictures of other colours link to other products, too.
    if (asin === null || asin === this.last.asin || words(element) === null) return;
    this.open(asin);
  }

  read(node: Node): void {
    if (node.type === 'text') this.line += node.data;
    if (!('attribs' in node) || unread.has(node.name)) return;
    if (node.attribs['data-cy'] === 'secondary-offer-recipe') {
      const secondary = new OfferReader();
      for (const child of node.children) secondary.read(child);
      secondary.endLine();
      this.secondaryOffers.push(...secondary.offers);
      return;
    }
    if (isPrice(node)) {
      this.addPrice(node);
      return;
    }
    if (node.name === 'a') this.addLink(node);
    if (!inline.has(node.name)) this.endLine();
    for (const child of node.children) this.read(child);
    if (!inline.has(node.name)) this.endLine();
  }
}

/**
 * Lines about another price than the one beside them: "Or $9.99 with …", "Join Prime to buy this at
 * $20".
 */
const otherPrice = anyOf(
  [
    '^(?:or|oder|ou|o|oppure)\\s',
    '^(?:または|もしくは)',
    'join prime',
    'delivery',
    'shipping',
    'liefer',
    'versand',
    'livraison',
    'consegna',
    'spedizione',
    'entrega',
    'envío',
    '配送',
    'お届け',
  ],
  { flags: 'iu' },
);
const freeWords = /\bfree\b|gratis|kostenlos|gratuit|無料/iu;

/** Returns true for a price that a buyer without membership does not pay. */
function isConditional({ price, notes }: CardOffer): boolean {
  if (price === null || !/[1-9]/.test(price)) return true;
  // A line about a free offer is not about a price above 0.
  return notes.some(
    (note) => !otherPrice.test(note) && !freeWords.test(note) && isConditionText(note),
  );
}

/** Lines with the price to buy beside a trial or membership. The group is the price. */
const purchases: readonly RegExp[] = [
  /^(?:or )?(.{2,24}?) to buy\b/i,
  /^(?:oder )?(.{2,24}?) (?:zum kauf(?:en)?|kaufen|kaufpreis)\b/i,
  /^ou (?:acheter (?:pour|à) )?(.{2,24}?)(?: (?:à l['’]achat|pour acheter|pour l['’]achat))?$/i,
  /^(?:(?:o|oppure) )?(.{2,24}?) (?:per l['’]acquisto|per acquistare|da acquistare)\b/i,
  /^(?:o )?(.{2,24}?) (?:para comprar|por la compra|para la compra)\b/i,
  /^(?:(?:または|もしくは)[、\s]?)?(.{2,24}?)で購入/,
];

function purchasePrice({ notes }: CardOffer, home: string | null): string | null {
  for (const note of notes) {
    for (const purchase of purchases) {
      const price = purchase.exec(note)?.[1];
      const amount = price === undefined ? null : priceAmount(price, priceCurrency(price, home));
      if (amount !== null && amount > 0) return price!;
    }
  }
  return null;
}

/** Returns the struck price of an offer if it is higher than the price. */
function originalOf({ price, struck }: CardOffer, currency: string | null): string | null {
  if (price === null || struck === null) return null;
  const [amount, original] = [priceAmount(price, currency), priceAmount(struck, currency)];
  if (amount !== null && original !== null && original > amount) return struck;
  return null;
}

/**
 * Returns the price of a card's own product for a buyer without membership: that of the first offer
 * that links to one of `asins`, without trials, memberships and rentals, otherwise the price to buy
 * beside those. The struck price is that of the same offer if it is higher. Prices of other formats
 * and sellers never count.
 */
export function readCardPrice(
  card: Element,
  asins: ReadonlySet<string>,
  home: string | null,
): CardPrice {
  const reader = new OfferReader();
  reader.read(card);
  const isOwn = ({ asin }: CardOffer) => asin === null || asins.has(asin);
  const offers = reader.offers.filter(isOwn);
  const offer = offers.find((each) => !isConditional(each));
  if (offer !== undefined) {
    const currency = priceCurrency(offer.price!, home);
    return { price: offer.price, original: originalOf(offer, currency), currency };
  }
  const purchaseOffers = [...offers, ...reader.secondaryOffers.filter(isOwn)];
  const purchase = firstOf(purchaseOffers, (each) => purchasePrice(each, home));
  const currency = purchase === null ? null : priceCurrency(purchase, home);
  return { price: purchase, original: null, currency };
}
