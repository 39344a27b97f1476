import type { Json, JsonObject } from '../base/json.ts';
import { readAvailability } from './availability.ts';
import { count, list, number, object, positive, text } from './fields.ts';
import { priceAmount, priceCurrency } from './money.ts';
import { itemsOf, plainText, type StructuredData, typesOf } from './structured-data.ts';
import { cheapest, lowestPrice } from './tracked.ts';

/** Values of a product as a page states them. Absent or null: it does not. */
export type ProductValues = Record<string, Json>;

/** An offer of a product or of a variant. */
interface StructuredOffer {
  id: string | null;
  name: string | null;
  url: string | null;
  price: number | null;
  currency: string | null;
  listPrice: number | null;
  availability: string | null;
  available: boolean | null;
  seller: string | null;
  condition: string | null;
}

const productTypes: ReadonlySet<string> = new Set(
  'Product ProductGroup ProductModel IndividualProduct SomeProducts Vehicle Car Book'.split(' '),
);

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

/** Reads an offer. A price can be in a specification, among others for members or per piece. */
function readOffer(item: JsonObject, data: StructuredData, url: string): StructuredOffer {
  const specifications = itemsOf(item.priceSpecification, data).filter(
    ({ validForMemberTier, referenceQuantity }) => !validForMemberTier && !referenceQuantity,
  );
  const isStruck = ({ priceType }: JsonObject) => struck.test(text(priceType) ?? '');
  const own = specifications.find((one) => !isStruck(one)) ?? {};
  const currency = currencyOf(item) ?? currencyOf(own);
  const price =
    amountOf(item.lowPrice, currency) ?? amountOf(item.price, currency) ?? amountOf(own.price, currency);
  const before = amountOf(specifications.find(isStruck)?.price, currency);
  const { available, state } = readAvailability(text(list(item.availability)[0] ?? item.availability));
  return {
    id: text(item.sku) ?? text(item.productID) ?? text(item.gtin13) ?? text(item.gtin),
    name: plainText(item.name),
    url: addressOn(url, text(item.url)),
    price,
    currency,
    listPrice: before !== null && price !== null && before > price ? before : null,
    availability: state,
    available,
    seller: plainText(item.seller ?? item.offeredBy),
    condition: text(item.itemCondition)?.replace(/^.*[/:]|Condition$/g, '') || null,
  };
}

/** Returns the offers of a product, those inside of an aggregate instead of it if they have prices. */
function offersOf(item: JsonObject, data: StructuredData, url: string): StructuredOffer[] {
  return itemsOf(item.offers, data).flatMap((offer) => {
    const aggregate = readOffer(offer, data, url);
    const inner = itemsOf(offer.offers, data).map((one) => readOffer(one, data, url));
    const priced = inner.filter(({ price }) => price !== null);
    return priced.length > 0
      ? inner.map((one) => ({ ...one, currency: one.currency ?? aggregate.currency }))
      : [aggregate];
  });
}

function variantsOf(item: JsonObject, offers: StructuredOffer[], data: StructuredData, url: string) {
  const variants = itemsOf(item.hasVariant ?? item.model, data).map((variant): StructuredOffer | null => {
    const offer = chooseOffer(offersOf(variant, data, url), url);
    const own = readOffer(variant, data, url);
    return (
      offer && { ...offer, id: own.id ?? offer.id, name: own.name ?? offer.name, url: own.url ?? offer.url }
    );
  });
  const found = variants.filter((variant) => variant !== null);
  if (found.length > 0) return found;
  return new Set(offers.map(({ id }) => id)).size === offers.length && offers.length > 1 ? offers : [];
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

function gtinOf(item: JsonObject): string | null {
  const codes = ['gtin', 'gtin13', 'gtin12', 'gtin14', 'gtin8', 'isbn'];
  return (
    codes.map((name) => text(item[name])?.replace(/[\s-]/g, '')).find((code) => code !== undefined) ?? null
  );
}

/** Returns the path of categories above a page: "Home > Mugs". The last element of the path is the page. */
function breadcrumbs(data: StructuredData): string | null {
  const trail = data.items.find((item) => typesOf(item).includes('BreadcrumbList'));
  const names = itemsOf(trail?.itemListElement, data)
    .map((element) => plainText(element.name) ?? plainText(element.item))
    .filter((name) => name !== null);
  return names.slice(0, -1).join(' > ') || null;
}

/** Returns the values of a product item. `url`: address of its page. */
export function describeProduct(item: JsonObject, data: StructuredData, url: string): ProductValues {
  const offers = offersOf(item, data, url);
  const variants = variantsOf(item, offers, data, url).slice(0, maxVariants);
  const offer = chooseOffer(offers.length > 0 && offers !== variants ? offers : variants, url);
  const shown = chooseOffer(variants, url) ?? offer;
  const { ratingValue, reviewCount, ratingCount } = object(itemsOf(item.aggregateRating, data)[0]);
  return {
    title: plainText(item.name),
    brand: plainText(item.brand) ?? plainText(item.manufacturer),
    sku: text(item.sku) ?? text(item.productGroupID) ?? text(item.productID),
    gtin: gtinOf(item),
    mpn: text(item.mpn),
    description: plainText(item.description),
    category: plainText(item.category) ?? breadcrumbs(data),
    price: offer?.price ?? lowestPrice(variants.map(({ price }) => price)),
    currency: offer?.currency ?? shown?.currency ?? null,
    list_price: offer?.listPrice ?? null,
    availability: offer?.availability ?? shown?.availability ?? null,
    condition: offer?.condition ?? (text(item.itemCondition)?.replace(/^.*[/:]|Condition$/g, '') || null),
    seller: offer?.seller ?? null,
    rating: number(ratingValue),
    review_count: count(reviewCount ?? ratingCount),
    images: imagesOf(item, data, url),
    variants: variants.map(({ id, name, price, available, url: page }) => ({
      id,
      name,
      price,
      available,
      url: page,
    })),
  };
}

/** Returns the product that a page is about in one format of structured data, or null if it states none. */
export function findProduct(data: StructuredData, url: string): JsonObject | null {
  const products = data.items.filter((item) => typesOf(item).some((type) => productTypes.has(type)));
  const isAbout = (item: JsonObject) =>
    [item.url, item['@id']].some((link) => addressOn(url, text(link))?.split('#')[0] === url);
  return (
    products.find(isAbout) ??
    products.find((item) => item.offers !== undefined || item.hasVariant !== undefined) ??
    products[0] ??
    null
  );
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
