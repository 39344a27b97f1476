import type { Json, JsonObject } from '../../base/json.ts';
import { readAvailability } from '../availability/availability.ts';
import { count, list, number, object, text } from '../fields.ts';
import { datumAmounts, priceCurrency } from '../money/money.ts';
import { cheapest } from '../tracked.ts';
import { itemsOf, plainText, type StructuredData, typesOf } from './structured-data.ts';

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
  /** False if the price excludes tax. Null if that is not stated. */
  includesTax: boolean | null;
  availability: string | null;
  available: boolean | null;
  seller: string | null;
  condition: string | null;
  /** Number of offers of an aggregate. */
  offerCount: number | null;
}

/** Returns the absolute address of a link on a page, or null if it is not one of http or https. */
export function addressOn(url: string, link: string | null): string | null {
  const target = link === null ? null : URL.parse(link, url);
  return target !== null && /^https?:$/.test(target.protocol) ? target.href : null;
}

/** Returns a text, or null for the placeholder of a template, such as "N/A". */
function plainCode(value: Json): string | null {
  const code = text(value)?.trim() ?? null;
  if (code === null || noCode.test(code)) return null;
  return code;
}

/** Texts of a missing value. */
const noCode = /^(?:null|undefined|none|nan|n\/?a|-+)$/i;

/** Returns the only code in a value or a list of values. Null for several. */
export function codeOf(value: Json | undefined): string | null {
  const values = Array.isArray(value) ? value : [value ?? null];
  const codes = new Set(values.map(plainCode).filter((code) => code !== null));
  return codes.size === 1 ? [...codes][0]! : null;
}

const gtinNames = ['gtin', 'gtin13', 'gtin12', 'gtin14', 'gtin8', 'isbn'];

/** Returns the global trade item number of an item. */
export function gtinOf(item: JsonObject): string | null {
  for (const name of gtinNames) {
    const code = codeOf(item[name])?.replace(/[\s-]/g, '');
    if (code !== undefined && gtinForm.test(code)) return code;
  }
  return null;
}

const gtinForm = /^(?:\d{8}|\d{12,14}|\d{9}[\dX])$/;

export const conditionOf = ({ itemCondition }: JsonObject) =>
  text(itemCondition)?.replace(/^.*[/:]|Condition$/g, '') || null;

const currencyOf = (item: JsonObject): string | null => {
  const code = text(item.priceCurrency)?.trim().toUpperCase() ?? '';
  if (/^[A-Z]{3}$/.test(code)) return code;
  const isWritten = typeof item.price === 'string' || code !== '';
  return isWritten ? priceCurrency(`${code} ${item.price ?? ''}`, null) : null;
};

const struck = /list|msrp|srp|strikethrough|regular/i;

/**
 * Returns true for a specification of a price to buy one piece: no fee, instalment, or price of
 * several.
 */
function isOwnPrice(specification: JsonObject): boolean {
  const specialValues = specialMembers.map((name) => specification[name] ?? null);
  if (specialValues.find((value) => value !== null)) return false;
  if (typesOf(specification).some((type) => chargeTypes.test(type))) return false;
  const minimum = number(object(specification.eligibleQuantity).minValue) ?? 1;
  if (minimum > 1) return false;
  return !/MinimumAdvertised/i.test(text(specification.priceType) ?? '');
}

/** Members of specifications of other prices. */
const specialMembers = [
  'validForMemberTier',
  'referenceQuantity',
  'priceComponentType',
  'billingDuration',
];
const chargeTypes = /charge|delivery|shipping/i;

const isStruck = ({ priceType }: JsonObject): boolean => struck.test(text(priceType) ?? '');

/** Returns the specification of the price to pay, with tax if there is one. */
function salePriceOf(specifications: readonly JsonObject[]): JsonObject {
  const prices = specifications.filter((specification) => !isStruck(specification));
  const taxed = prices.find(({ valueAddedTaxIncluded }) => valueAddedTaxIncluded !== false);
  return taxed ?? prices[0] ?? {};
}

/** Returns the struck price. Null if it can mean several amounts. */
function listPriceOf(specifications: readonly JsonObject[], currency: string | null) {
  const amounts = datumAmounts(specifications.find(isStruck)?.price, currency);
  return amounts.length === 1 ? amounts[0]! : null;
}

/**
 * Reads an offer. A price can be in a price specification, next to fees, member prices, and prices
 * per piece.
 */
export function readOffer(item: JsonObject, data: StructuredData, url: string): StructuredOffer {
  const specifications = itemsOf(item.priceSpecification, data).filter(isOwnPrice);
  const own = salePriceOf(specifications);
  const currency = currencyOf(item) ?? currencyOf(own);
  const written = [item.lowPrice, item.price, own.price];
  const readings = written.map((value) => datumAmounts(value, currency));
  const at = readings.findIndex((amounts) => amounts.length > 0);
  const amounts = readings[at] ?? [];
  const [price = null] = amounts.length === 1 ? amounts : [];
  const listPrice = listPriceOf(specifications, currency);
  const hasListPrice = listPrice !== null && price !== null && listPrice > price;
  const stockText = text(list(item.availability)[0] ?? item.availability);
  const { available, state } = readAvailability(stockText);
  const offered = object(itemsOf(item.itemOffered, data)[0]);
  const tax = own.valueAddedTaxIncluded ?? item.valueAddedTaxIncluded;
  return {
    kind: typesOf(item).includes('AggregateOffer') ? 'aggregate' : 'offer',
    id: codeOf(item.sku) ?? codeOf(offered.sku) ?? codeOf(item.productID) ?? gtinOf(item),
    name: plainText(item.name) ?? plainText(offered.name),
    url: addressOn(url, text(item.url)),
    price,
    priceText: text(written[at]),
    readings: amounts.length > 1 ? amounts : [],
    currency,
    listPrice: hasListPrice ? listPrice : null,
    includesTax: typeof tax === 'boolean' ? tax : null,
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

const isSale = ({ businessFunction }: JsonObject): boolean =>
  !/lease|rent/i.test(text(businessFunction) ?? '');

/**
 * Returns the offers to buy a product. Aggregates of them count only without offers that have a
 * price. Some shops write the members of an offer into the product.
 */
export function offersOf(item: JsonObject, data: StructuredData, url: string): StructuredOffer[] {
  const ownOffer = item.price === undefined ? null : item;
  const written = itemsOf(item.offers ?? ownOffer, data).filter(isSale);
  const outer = written.map((offer) => readOffer(offer, data, url));
  const inner = written.flatMap((offer) => itemsOf(offer.offers, data));
  const hasInner = (at: number) => written[at]!.offers !== undefined;
  const isAggregate = ({ kind }: StructuredOffer, at: number) =>
    kind === 'aggregate' || hasInner(at);
  const aggregates = outer.filter(isAggregate);
  const offers = outer.filter((offer, at) => !isAggregate(offer, at));
  for (const offer of new Set(inner)) offers.push(readOffer(offer, data, url));
  const currency = aggregates.find((aggregate) => aggregate.currency !== null)?.currency ?? null;
  if (offers.some(isPriced))
    return offers.map((one) => ({ ...one, currency: one.currency ?? currency }));
  if (aggregates.length === 0) return offers;
  const common = commonAvailability(offers);
  return aggregates.map((one) => (one.availability === null ? { ...one, ...common } : one));
}

/**
 * Returns the offer of the page's address, otherwise the cheapest that can be bought, otherwise the
 * cheapest or first one.
 */
export function chooseOffer(
  offers: readonly StructuredOffer[],
  url: string,
): StructuredOffer | null {
  const named = URL.parse(url)?.search ? offers.find((offer) => offer.url === url) : undefined;
  const available = offers.filter((offer) => offer.available !== false);
  return named ?? cheapest(available) ?? cheapest(offers) ?? available[0] ?? offers[0] ?? null;
}
