import type { Json, JsonObject } from '../base/json.ts';
import { readAvailability } from './availability.ts';
import { count, list, number, object, positive, text } from './fields.ts';
import { priceAmount, priceCurrency } from './money.ts';
import { itemsOf, plainText, type StructuredData, typesOf } from './structured-data.ts';
import { cheapest, lowestPrice } from './tracked.ts';

/** Values of a product as a page states them. Absent or null: it does not. */
export type ProductValues = Record<string, Json>;

/** An offer of a product or of a variant. */
type StructuredOffer = ReturnType<typeof readOffer>;

const productTypes: ReadonlySet<string> = new Set(
  'Product ProductGroup ProductModel IndividualProduct SomeProducts Vehicle Car Book'
    .toLowerCase()
    .split(' '),
);
const isProduct = (item: JsonObject) => typesOf(item).some((type) => productTypes.has(type.toLowerCase()));

/** Returns true if structured data states a product, of the page or not. */
export const hasProduct = ({ items }: StructuredData): boolean => items.some(isProduct);

/** Maximum variants and pictures of a record. */
const maxVariants = 500;
const maxImages = 50;

/** Returns the absolute address of a link on a page, or null if it is not one of http or https. */
export function addressOn(url: string, link: string | null): string | null {
  const target = link === null ? null : URL.parse(link, url);
  return target !== null && /^https?:$/.test(target.protocol) ? target.href : null;
}

/** Returns the text of a price in data, where a point separates decimals, or of a price in any format. */
function amountOf(value: Json | undefined, currency: string | null): number | null {
  if (typeof value !== 'string') return positive(value);
  // Data with three decimals is rare; a point before three digits separates thousands.
  const plain = /^\d+\.(?:\d{1,2}|\d{4,})$/.test(value.trim()) ? number(value) : null;
  return positive(plain ?? priceAmount(value, currency) ?? number(value));
}

const currencyOf = (item: JsonObject): string | null => {
  const code = text(item.priceCurrency)?.trim().toUpperCase() ?? '';
  if (/^[A-Z]{3}$/.test(code)) return code;
  return typeof item.price === 'string' || code !== ''
    ? priceCurrency(`${code} ${item.price ?? ''}`, null)
    : null;
};

const struck = /list|msrp|srp|strikethrough|regular/i;

/** Returns true for a specification of a price to buy one piece: no fee, instalment, or price of several. */
function isOwnPrice(specification: JsonObject): boolean {
  const { validForMemberTier, referenceQuantity, priceComponentType, billingDuration } = specification;
  const isSpecial = validForMemberTier ?? referenceQuantity ?? priceComponentType ?? billingDuration;
  const isCharge = typesOf(specification).some((type) => /charge|delivery|shipping/i.test(type));
  const minimum = number(object(specification.eligibleQuantity).minValue) ?? 1;
  return (
    !isSpecial && !isCharge && minimum <= 1 && !/MinimumAdvertised/i.test(text(specification.priceType) ?? '')
  );
}

const conditionOf = ({ itemCondition }: JsonObject) =>
  text(itemCondition)?.replace(/^.*[/:]|Condition$/g, '') || null;

/** Reads an offer. A price can be in a specification, beside those of fees, of members, or per piece. */
function readOffer(item: JsonObject, data: StructuredData, url: string) {
  const specifications = itemsOf(item.priceSpecification, data).filter(isOwnPrice);
  const isStruck = ({ priceType }: JsonObject) => struck.test(text(priceType) ?? '');
  const sale = specifications.filter((one) => !isStruck(one));
  const own = sale.find((one) => one.valueAddedTaxIncluded !== false) ?? sale[0] ?? {};
  const currency = currencyOf(item) ?? currencyOf(own);
  const price =
    amountOf(item.lowPrice, currency) ?? amountOf(item.price, currency) ?? amountOf(own.price, currency);
  const before = amountOf(specifications.find(isStruck)?.price, currency);
  const { available, state } = readAvailability(text(list(item.availability)[0] ?? item.availability));
  const offered = object(itemsOf(item.itemOffered, data)[0]);
  return {
    id: stated(item.sku) ?? stated(offered.sku) ?? stated(item.productID) ?? gtinOf(item),
    name: plainText(item.name) ?? plainText(offered.name),
    url: addressOn(url, text(item.url)),
    price,
    currency,
    listPrice: before !== null && price !== null && before > price ? before : null,
    availability: state,
    available,
    seller: plainText(item.seller ?? item.offeredBy),
    condition: conditionOf(item),
  };
}

/**
 * Returns the offers to buy a product, those inside of an aggregate instead of it if they have prices. Some
 * shops write the members of an offer into the product.
 */
function offersOf(item: JsonObject, data: StructuredData, url: string): StructuredOffer[] {
  const offers = itemsOf(item.offers ?? (item.price === undefined ? null : item), data);
  return offers.flatMap((offer) => {
    if (/lease|rent/i.test(text(offer.businessFunction) ?? '')) return [];
    const aggregate = readOffer(offer, data, url);
    const inner = itemsOf(offer.offers, data).map((one) => readOffer(one, data, url));
    const priced = inner.filter(({ price }) => price !== null);
    return priced.length > 0
      ? inner.map((one) => ({ ...one, currency: one.currency ?? aggregate.currency }))
      : [aggregate];
  });
}

function variantsOf(item: JsonObject, offers: StructuredOffer[], data: StructuredData, url: string) {
  const variants = itemsOf(item.hasVariant ?? item.model, data).flatMap((variant): StructuredOffer[] => {
    const offer = chooseOffer(offersOf(variant, data, url), url);
    const own = readOffer(variant, data, url);
    if (offer === null) return [];
    return [{ ...offer, id: own.id ?? offer.id, name: own.name ?? offer.name, url: own.url ?? offer.url }];
  });
  if (variants.length > 0) return variants;
  const count = (values: readonly (string | null)[]) => new Set(values).size;
  const isSold =
    count(offers.map(({ id }) => id)) === offers.length && count(offers.map(({ seller }) => seller)) === 1;
  return offers.length > 1 && isSold ? offers : [];
}

/**
 * Returns the offer of the page's address, otherwise the cheapest that can be bought, otherwise the cheapest
 * or first one.
 */
function chooseOffer(offers: readonly StructuredOffer[], url: string): StructuredOffer | null {
  const named = URL.parse(url)?.search ? offers.find((offer) => offer.url === url) : undefined;
  const available = offers.filter((offer) => offer.available !== false);
  return named ?? cheapest(available) ?? cheapest(offers) ?? available[0] ?? offers[0] ?? null;
}

/** Returns the pictures of a product as addresses. */
function imagesOf(item: JsonObject, data: StructuredData, url: string): string[] {
  const images = Array.isArray(item.image) ? item.image : [item.image];
  const links = images.map((image) => {
    const [found = {}] = itemsOf(image, data);
    return addressOn(url, text(image) ?? text(found.url) ?? text(found.contentUrl));
  });
  return [...new Set(links.filter((link) => link !== null))].slice(0, maxImages);
}

/** Returns a text, unless it is what templates write for a missing one. */
function stated(value: Json | undefined): string | null {
  const said = text(value)?.trim() ?? null;
  return said === null || /^(?:null|undefined|none|nan|n\/?a|-+)$/i.test(said) ? null : said;
}

function gtinOf(item: JsonObject): string | null {
  const codes = ['gtin', 'gtin13', 'gtin12', 'gtin14', 'gtin8', 'isbn'].map((name) =>
    text(item[name])?.replace(/[\s-]/g, ''),
  );
  return codes.find((code) => code !== undefined && /^(?:\d{8}|\d{12,14}|\d{9}[\dX])$/.test(code)) ?? null;
}

/** Returns the path of categories above a page: "Home > Mugs". The last element of the path is the page. */
function breadcrumbs(data: StructuredData): string | null {
  const trail = data.items.find((item) => typesOf(item).includes('BreadcrumbList'));
  const names = itemsOf(trail?.itemListElement, data)
    .map((element) => plainText(element.name) ?? plainText(element.item))
    .filter((name) => name !== null);
  return names.slice(0, -1).join(' > ') || null;
}

/** Returns the values of a product item. `page`: address of its page. */
export function describeProduct(item: JsonObject, data: StructuredData, page: string): ProductValues {
  const offers = offersOf(item, data, page);
  const variants = variantsOf(item, offers, data, page).slice(0, maxVariants);
  const offer = chooseOffer(offers.length > 0 && offers !== variants ? offers : variants, page);
  const shown = chooseOffer(variants, page) ?? offer;
  const { ratingValue, reviewCount, ratingCount } = object(itemsOf(item.aggregateRating, data)[0]);
  return {
    title: plainText(item.name),
    brand: plainText(item.brand) ?? plainText(item.manufacturer),
    sku: stated(item.sku) ?? stated(item.productGroupID) ?? stated(item.productID),
    gtin: gtinOf(item),
    mpn: stated(item.mpn),
    description: plainText(item.description),
    category: plainText(item.category) ?? breadcrumbs(data),
    price: offer?.price ?? lowestPrice(variants.map(({ price }) => price)),
    currency: offer?.currency ?? shown?.currency ?? null,
    list_price: offer?.listPrice ?? null,
    availability: offer?.availability ?? shown?.availability ?? null,
    condition: offer?.condition ?? conditionOf(item),
    seller: offer?.seller ?? null,
    rating: number(ratingValue),
    review_count: count(reviewCount ?? ratingCount),
    images: imagesOf(item, data, page),
    variants: variants.map(({ id, name, price, available, url }) => ({ id, name, price, available, url })),
  };
}

/** Returns a name without differences in case, punctuation, and spaces. */
export const plainName = (name: string | null): string =>
  ` ${(name ?? '')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()} `;

/**
 * Returns the product that a page is about in one format of structured data: the one with its address, or
 * whose name is in `shown`, the headings and titles of the page. Null if the page states no product, or
 * several of which any could be meant.
 */
export function findProduct(
  data: StructuredData,
  url: string,
  shown: readonly (string | null)[],
): JsonObject | null {
  const products = data.items.filter(isProduct);
  const linksOf = ({ url: own, '@id': id, mainEntityOfPage: page }: JsonObject) =>
    [own, id, page].map((link) => addressOn(url, text(link))?.split('#')[0]);
  const address = [url, url.split('?')[0]!].find((one) =>
    products.some((item) => linksOf(item).includes(one)),
  );
  const about = address === undefined ? products : products.filter((item) => linksOf(item).includes(address));
  const offered = about.filter(
    ({ offers, hasVariant, price }) => (offers ?? hasVariant ?? price) !== undefined,
  );
  const candidates = offered.length > 0 ? offered : about;
  const [first = null, ...others] = candidates;
  const nameOf = (item: JsonObject) => plainName(plainText(item.name));
  const titles = shown.filter((title) => title !== null).map(plainName);
  const named = candidates.filter((item) => titles.some((title) => title.includes(nameOf(item))));
  if (first === null || others.some((item) => nameOf(item) !== nameOf(first)))
    return named.sort((one, other) => nameOf(other).length - nameOf(one).length)[0] ?? null;
  // The only product can be a related one, with the address of its own page.
  const isElsewhere = address === undefined && linksOf(first)[0] !== undefined && titles.length > 0;
  return isElsewhere ? (named[0] ?? null) : first;
}

/** Returns the elements of the first list of products or addresses on a page, in order. */
export function listedProducts(data: StructuredData, url: string): ProductValues[] {
  const listed = data.items.filter((item) => typesOf(item).includes('ItemList'));
  const elements = listed.flatMap((item) => itemsOf(item.itemListElement, data));
  const products = elements.map((element) => {
    const item = object(itemsOf(element.item, data)[0] ?? (text(element.url) ? element : element.item));
    const link = text(item.url) ?? text(element.url) ?? text(element.item) ?? text(item['@id']);
    return { ...describeProduct(item, data, url), url: addressOn(url, link) };
  });
  return products.filter((product) => product.url !== null);
}
