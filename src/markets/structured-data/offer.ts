import type { Json, JsonObject } from '../../base/json.ts';
import { type Availability, readAvailability } from '../availability/availability.ts';
import { count, number, object, text } from '../fields.ts';
import { isCurrencyCode } from '../money/currencies.ts';
import { datumAmounts, priceCurrency } from '../money/money.ts';
import { cheapest } from '../tracked.ts';
import {
  isPlaceholder,
  itemsOf,
  onlyText,
  plainText,
  rowMember,
  type StructuredData,
  typesOf,
} from './structured-data.ts';

/** An offer of a product or of a variant. */
export interface StructuredOffer {
  /** An aggregate sums up other offers. */
  kind: 'offer' | 'aggregate';
  id: string | null;
  name: string | null;
  url: string | null;
  price: number | null;
  /** Text of the price. */
  priceText: string | null;
  /** Amounts that the price can mean, if they are several. */
  readings: readonly number[];
  currency: string | null;
  listPrice: number | null;
  availability: string | null;
  available: boolean | null;
  seller: string | null;
  condition: string | null;
  /** Number of offers of an aggregate. */
  offerCount: number | null;
}

/**
 * Returns the absolute address of a link on a page, or null if it is not one of http or https.
 * `base`: address of the `base` element of the page.
 */
export function addressOn(url: string, link: string | null, base: string | null): string | null {
  if (link === null) return null;
  const context = URL.parse(base ?? '', url)?.href ?? url;
  // Shops write addresses for HTML into data.
  const target = URL.parse(link.replaceAll('&amp;', '&'), context);
  return target !== null && /^https?:$/.test(target.protocol) ? target.href : null;
}

/** Texts of a missing code, such as a label alone: "Item #:". */
const noCode =
  /^(?:null|undefined|none|nan|n\/?a|unknown|not (?:applicable|available)|does not apply|0+|[^\p{L}\p{N}]+|.*[:：])$/iu;

const isCode = (code: string): boolean => !noCode.test(code) && !isPlaceholder(code);

/** Returns the only code in a value or a list of values. Null for several. */
export const codeOf = (value: Json | undefined): string | null => onlyText(value, isCode);

const gtinNames = ['gtin', 'gtin13', 'gtin12', 'gtin14', 'gtin8', 'isbn'];

/** Returns the global trade item number of an item. */
export function gtinOf(item: JsonObject): string | null {
  for (const name of gtinNames) {
    const code = gtinIn(codeOf(item[name]) ?? '');
    if (code !== null) return code;
  }
  return null;
}

/** Returns the GTIN or ISBN that a text is, without spaces and hyphens. Null for another text. */
export function gtinIn(text: string): string | null {
  const code = text.replace(/[\s-]/g, '').toUpperCase();
  return isGtin(code) ? code : null;
}

const gtinForm = /^(?:\d{8}|\d{12,14}|\d{9}[\dX])$/;

/** Returns true for a GTIN, or an ISBN of 10 digits, with the right check digit. */
function isGtin(code: string): boolean {
  if (!gtinForm.test(code)) return false;
  const digits = Array.from(code, (digit) => (digit === 'X' ? 10 : Number(digit))).reverse();
  const isIsbn = code.length === 10;
  const sum = digits.reduce((total, digit, at) => {
    const weight = at % 2 === 0 ? 1 : 3;
    return total + digit * (isIsbn ? at + 1 : weight);
  }, 0);
  return sum % (isIsbn ? 11 : 10) === 0;
}

/** Returns the condition of an item as the page spells it, without its address: "New", "new". */
export const conditionOf = ({ itemCondition }: JsonObject): string | null =>
  text(itemCondition)?.replace(/^.*[/:]|Condition$/g, '') || null;

function currencyOf(item: JsonObject, { work }: StructuredData): string | null {
  const code = onlyText(item.priceCurrency)?.toUpperCase() ?? '';
  if (isCurrencyCode(code)) return code;
  const price = typeof item.price === 'number' ? null : onlyText(item.price);
  const written = `${code} ${price ?? ''}`;
  work.addParsed(written);
  return priceCurrency(written, null);
}

/** Returns true for false, also as text or as its address in schema.org. */
const isFalse = (value: Json | undefined): boolean =>
  value === false || /^(?:\S*\/)?false$/i.test(onlyText(value) ?? '');

const struck = /list|msrp|srp|strikethrough|regular/i;

/**
 * Returns true for a specification of a price to buy one piece: no fee, instalment, or price of
 * several.
 */
function isOwnPrice(specification: JsonObject): boolean {
  const { referenceQuantity: quantity } = specification;
  // With a base measure, it is the quantity that is sold.
  if (quantity != null && object(quantity).valueReference === undefined) return false;
  const specialValues = specialMembers.map((name) => specification[name] ?? null);
  if (specialValues.find((value) => value !== null)) return false;
  if (typesOf(specification).some((type) => chargeTypes.test(type))) return false;
  if (isForSeveral(specification)) return false;
  return !/MinimumAdvertised/i.test(text(specification.priceType) ?? '');
}

/** Returns true for a price that holds only for several pieces. */
const isForSeveral = ({ eligibleQuantity }: JsonObject): boolean =>
  (number(object(eligibleQuantity).minValue) ?? 1) > 1;

/** Members of specifications of other prices. */
const specialMembers = ['validForMemberTier', 'priceComponentType', 'billingDuration'];
const chargeTypes = /charge|delivery|shipping/i;

const isStruck = ({ priceType }: JsonObject): boolean => struck.test(text(priceType) ?? '');

/** Returns the specifications of the price to pay, with tax if there are some. */
function salePricesOf(specifications: readonly JsonObject[]): readonly JsonObject[] {
  const prices = specifications.filter((specification) => !isStruck(specification));
  const taxed = prices.filter(({ valueAddedTaxIncluded: tax }) => !isFalse(tax));
  return taxed.length > 0 ? taxed : prices;
}

/** Returns the amounts that values can mean, each once. */
function amountsOf(
  values: readonly (Json | undefined)[],
  currency: string | null,
  { work }: StructuredData,
): number[] {
  const amounts = values.flatMap((value) => {
    const written = typeof value === 'number' ? value : onlyText(value);
    work.addParsed(String(written));
    return datumAmounts(written, currency);
  });
  return [...new Set(amounts)];
}

/** Returns lowest amounts, and the highest one if it is below all of them. */
function withinRange(lowest: number[], [highest]: readonly number[]): number[] {
  const isContradicted =
    highest !== undefined && lowest.length > 0 && highest < Math.min(...lowest);
  return isContradicted ? [...lowest, highest] : lowest;
}

/** Maximum states of stock of an offer. */
const maxStates = 10;

/** Returns the first state of stock in a value or a list. Nothing if others contradict it. */
function stockOf(value: Json | undefined, { work }: StructuredData): Availability {
  const values = Array.isArray(value) ? value : [value];
  const states = values.slice(0, maxStates).map((one) => {
    const stated = onlyText(one);
    work.addParsed(stated ?? '');
    return readAvailability(stated);
  });
  const nothing = readAvailability(null);
  const [first = nothing] = states;
  return states.every(({ available }) => available === first.available) ? first : nothing;
}

/** Returns the struck price. Null if it can mean several amounts. */
function listPriceOf(
  specifications: readonly JsonObject[],
  currency: string | null,
  data: StructuredData,
) {
  const amounts = amountsOf([specifications.find(isStruck)?.price], currency, data);
  return amounts.length === 1 ? amounts[0]! : null;
}

/**
 * Reads an offer. A price can be in a price specification, next to fees, member prices, and prices
 * per piece.
 */
export function readOffer(item: JsonObject, data: StructuredData, url: string): StructuredOffer {
  const specifications = itemsOf(item.priceSpecification, data).filter(isOwnPrice);
  const own = salePricesOf(specifications);
  const currency = currencyOf(item, data) ?? currencyOf(own[0] ?? {}, data);
  const written = [[item.lowPrice, item.price], own.map((one) => one.price)];
  const readings = written.map((values) => amountsOf(values, currency, data));
  const at = readings.findIndex((amounts) => amounts.length > 0);
  const amounts = withinRange(readings[at] ?? [], amountsOf([item.highPrice], currency, data));
  const [price = null] = amounts.length === 1 ? amounts : [];
  const listPrice = listPriceOf(specifications, currency, data);
  const hasListPrice = listPrice !== null && price !== null && listPrice > price;
  const { available, state } = stockOf(item.availability, data);
  const offered = object(itemsOf(item.itemOffered, data)[0]);
  return {
    kind: typesOf(item).includes('AggregateOffer') ? 'aggregate' : 'offer',
    id: codeOf(item.sku) ?? codeOf(offered.sku) ?? codeOf(item.productID) ?? gtinOf(item),
    name: plainText(item.name) ?? plainText(offered.name),
    url: addressOn(url, text(item.url), data.base),
    price,
    priceText: onlyText(written[at]?.[0]),
    readings: amounts.length > 1 ? amounts : [],
    currency,
    listPrice: hasListPrice ? listPrice : null,
    availability: state,
    available,
    seller: plainText(item.seller ?? item.offeredBy),
    condition: conditionOf(item),
    offerCount: count(item.offerCount),
  };
}

const isPriced = ({ price, readings }: StructuredOffer): boolean =>
  price !== null || readings.length > 0;

/** Returns the availability of offers if it is the same for all that state one. */
function commonAvailability(offers: readonly StructuredOffer[]) {
  const stated = offers.filter(({ availability }) => availability !== null);
  const states = new Set(stated.map(({ availability }) => availability));
  const [first] = stated;
  if (first === undefined || states.size > 1) return { availability: null, available: null };
  return { availability: first.availability, available: first.available };
}

/** Returns true unless an offer is to rent, to repair, or to buy a product from its owner. */
const isSale = ({ businessFunction }: JsonObject): boolean =>
  /^$|sell/i.test(onlyText(businessFunction) ?? '');

/** Returns the offers of one piece, or all offers if there is none. */
function ofOnePiece(offers: readonly JsonObject[]): readonly JsonObject[] {
  const single = offers.filter((offer) => !isForSeveral(offer));
  return single.length > 0 ? single : offers;
}

/** Members that tell offers of a product apart. */
const distinctMembers = ['sku', 'name', 'url', 'seller', 'itemOffered', 'mpn', 'gtin13'];

/**
 * Returns true for offers in the rows of a table that nothing but their prices tells apart: prices
 * by quantity, of which the highest is that of one piece.
 */
const areQuantityPrices = (offers: readonly JsonObject[]): boolean =>
  offers.length > 1 &&
  offers.every(
    (offer) =>
      offer[rowMember] === true && distinctMembers.every((name) => offer[name] === undefined),
  );

/** Returns the offer with the highest price. */
const dearest = (offers: readonly StructuredOffer[]): StructuredOffer =>
  offers.reduce((highest, one) => ((one.price ?? 0) > (highest.price ?? 0) ? one : highest));

/**
 * Returns the offers to buy a product. Aggregates of them count only without offers that have a
 * price. Some shops write the members of an offer into the product.
 */
export function offersOf(item: JsonObject, data: StructuredData, url: string): StructuredOffer[] {
  const ownOffer = item.price === undefined ? null : item;
  const written = ofOnePiece(itemsOf(item.offers ?? ownOffer, data).filter(isSale));
  const outer = written.map((offer) => readOffer(offer, data, url));
  const inner = [...new Set(written.flatMap((offer) => itemsOf(offer.offers, data)))];
  const hasInner = (at: number) => written[at]!.offers !== undefined;
  const isAggregate = ({ kind }: StructuredOffer, at: number) =>
    kind === 'aggregate' || hasInner(at);
  const aggregates = outer.filter(isAggregate);
  const offers = outer.filter((offer, at) => !isAggregate(offer, at));
  const nested = ofOnePiece(inner).map((offer) => readOffer(offer, data, url));
  offers.push(...(areQuantityPrices(inner) ? [dearest(nested)] : nested));
  const currency = aggregates.find((aggregate) => aggregate.currency !== null)?.currency ?? null;
  if (offers.some(isPriced))
    return offers.map((one) => ({ ...one, currency: one.currency ?? currency }));
  if (aggregates.length === 0) return offers;
  const common = commonAvailability(offers);
  return aggregates.map((one) => (one.availability === null ? { ...one, ...common } : one));
}

/** Maximum characters of the parameters of an address that are compared. */
const maxParameters = 500;

/** Returns an absolute address without its scheme and its parameters, and its parameters. */
function addressParts(address: string) {
  const [path = '', parameters = ''] = address.split('#')[0]!.split('?', 2);
  return {
    path: path.replace(/^https?:\/\/(?:www\.)?/, '').replace(/\/$/, ''),
    parameters: new Set(parameters.slice(0, maxParameters).split('&').filter(Boolean)),
  };
}

/** Returns the offers that the address of the page names, or all if it does not tell them apart. */
function addressedOffers(
  offers: readonly StructuredOffer[],
  url: string,
): readonly StructuredOffer[] {
  if (offers.length < 2 || offers.some((offer) => offer.url === null)) return offers;
  const page = addressParts(url);
  // The page can have other parameters, such as those of a campaign.
  const common = offers.map((offer) => {
    const { path, parameters } = addressParts(offer.url!);
    const isCommon = [...parameters].every((parameter) => page.parameters.has(parameter));
    return path === page.path && isCommon ? parameters.size : -1;
  });
  const most = common.reduce((highest, one) => Math.max(highest, one));
  return most < 0 ? offers : offers.filter((_offer, at) => common[at] === most);
}

/**
 * Returns the offer of the page's address, otherwise the cheapest that can be bought, otherwise the
 * cheapest or first one. Prices in several currencies cannot be compared: the offer has none of
 * them.
 */
export function chooseOffer(
  offers: readonly StructuredOffer[],
  url: string,
): StructuredOffer | null {
  const addressed = addressedOffers(offers, url);
  const available = addressed.filter((offer) => offer.available !== false);
  const possible = available.length > 0 ? available : addressed;
  const chosen = cheapest(possible) ?? cheapest(addressed) ?? possible[0] ?? null;
  const priced = possible.filter(isPriced);
  const currencies = new Set(priced.map(({ currency }) => currency).filter((one) => one !== null));
  if (chosen === null || currencies.size < 2) return chosen;
  const readings = priced.flatMap(({ price, readings }) => (price === null ? readings : [price]));
  return { ...chosen, price: null, listPrice: null, currency: null, readings };
}
