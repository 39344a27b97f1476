import type { Json, JsonObject } from '../../base/json.ts';
import { count, number, object, text } from '../fields.ts';
import { isHomePath } from '../responses/redirects.ts';
import { lowestPrice } from '../tracked.ts';
import { brandName } from './brand.ts';
import {
  addressOn,
  chooseOffer,
  codeOf,
  conditionOf,
  gtinOf,
  offersOf,
  readOffer,
  type StructuredOffer,
} from './offer.ts';
import { largestPictures } from './pictures.ts';
import { plainName } from './plain-name.ts';
import {
  isProduct,
  itemsOf,
  onlyText,
  plainText,
  type StructuredData,
  type StructuredFormat,
  typesOf,
} from './structured-data.ts';

/** Values of a product as a page states them. Absent or null: it does not. */
export type ProductValues = Record<string, Json>;

/** A product in one format of structured data. */
export interface StructuredProduct {
  format: StructuredFormat;
  values: ProductValues;
  /** The offer that `values` has. */
  offer: StructuredOffer | null;
  /** All offers of the product and of its variants. */
  offers: readonly StructuredOffer[];
  /** True for a group of variants, and for one of its variants. */
  isGrouped: boolean;
}

/** Maximum variants and pictures of a record. */
const maxVariants = 500;
const maxImages = 50;
/** Maximum items that describe the same product. */
const maxTwins = 20;
/** Maximum titles and headings of a page that are compared with names. */
const maxTitles = 50;

function variantsOf(
  item: JsonObject,
  offers: StructuredOffer[],
  data: StructuredData,
  url: string,
) {
  const variants: StructuredOffer[] = [];
  for (const variant of itemsOf(item.hasVariant ?? item.model, data).slice(0, maxVariants)) {
    const offer = chooseOffer(offersOf(variant, data, url), url);
    if (offer === null) continue;
    const own = readOffer(variant, data, url);
    const [id, name] = [own.id ?? offer.id, own.name ?? offer.name];
    variants.push({
      ...offer,
      id,
      name,
      url: own.url ?? offer.url,
    });
  }
  if (variants.length > 0) return variants;
  const ids = new Set(offers.map(({ id }) => id));
  const sellers = new Set(offers.map(({ seller }) => seller));
  const areVariants = offers.length > 1 && ids.size === offers.length && sellers.size === 1;
  const haveAggregate = offers.some(({ kind }) => kind === 'aggregate');
  return areVariants && !haveAggregate ? offers.slice(0, maxVariants) : [];
}

const emptyPictures =
  /^(?:(?:load(?:ing|er)|spacer|blank|transparent|pixel|placeholder)\.(?:gif|png|svg)|no[-_]?(?:image|photo|picture)s?(?=[-_.\d]).*)$/i;

/** Returns true for the picture of no product: one that is shown until another is loaded. */
const isEmptyPicture = (address: string): boolean =>
  emptyPictures.test(new URL(address).pathname.split('/').at(-1)!);

/** Returns the pictures of an item as addresses, each in its largest size. */
function ownImagesOf(item: JsonObject, data: StructuredData, url: string): string[] {
  const images = Array.isArray(item.image) ? item.image : [item.image];
  const addresses: string[] = [];
  for (const image of images) {
    const [item = {}] = itemsOf(image, data);
    const link = text(image) ?? text(item.url) ?? text(item.contentUrl ?? item.contentURL);
    const address = addressOn(url, link, data.base);
    if (address !== null && !isEmptyPicture(address)) addresses.push(address);
  }
  return largestPictures(addresses).slice(0, maxImages);
}

/** Returns the pictures of a product, otherwise those that all of its variants have. */
function imagesOf(item: JsonObject, data: StructuredData, url: string): string[] {
  const own = ownImagesOf(item, data, url);
  if (own.length > 0) return own;
  const variants = itemsOf(item.hasVariant, data).slice(0, maxVariants);
  const lists = variants.map((variant) => ownImagesOf(variant, data, url));
  const [first = []] = lists;
  return new Set(lists.map((list) => list.join(' '))).size === 1 ? first : [];
}

/** A step of a path of categories. */
export interface TrailStep {
  name: string;
  address: string | null;
}

/** A path of categories and the format that states it. */
export interface Trail {
  format: StructuredFormat;
  steps: TrailStep[];
}

/** Returns the first path of categories of a page, in the order of its positions. */
export function trailOf(page: readonly StructuredData[], url: string): Trail {
  for (const data of page) {
    const trail = data.items.find((item) => typesOf(item).includes('BreadcrumbList'));
    const elements = inPositions(itemsOf(trail?.itemListElement, data));
    const steps = elements
      .map((element) => trailStep(element, data, url))
      .filter((step) => step !== null);
    if (steps.length > 0) return { format: data.format, steps };
  }
  return { format: 'json-ld', steps: [] };
}

/** Returns elements in the order of their positions, or unchanged if one has no position. */
function inPositions(elements: readonly JsonObject[]): readonly JsonObject[] {
  const positioned = elements.map((element) => ({ element, position: number(element.position) }));
  if (positioned.some(({ position }) => position === null)) return elements;
  positioned.sort((one, other) => one.position! - other.position!);
  return positioned.map(({ element }) => element);
}

/** Returns the step of an element. Null for an element without a name. */
function trailStep(element: JsonObject, data: StructuredData, url: string): TrailStep | null {
  const [item = {}] = itemsOf(element.item, data);
  const name = plainText(element.name) ?? plainText(element.item);
  if (name === null) return null;
  const link = text(element.item) ?? text(item['@id']) ?? text(item.url) ?? text(element.url);
  return { name, address: addressOn(url, link, data.base) };
}

/**
 * Returns a path of categories as text: "Home > Mugs". A last step with the address or a name of
 * the product is left out.
 */
export function categoryOf(
  trail: readonly TrailStep[],
  address: string | null,
  names: readonly (string | null)[],
): string | null {
  const last = trail.at(-1);
  if (last === undefined) return null;
  const plainNames = names.filter((name) => name !== null).map(plainName);
  const isOwnAddress =
    last.address !== null && withoutQuery(last.address) === withoutQuery(address);
  const isProductStep = isOwnAddress || plainNames.includes(plainName(last.name));
  const steps = isProductStep ? trail.slice(0, -1) : trail;
  // The first page of a shop alone is no category.
  if (steps.every(({ address: step }) => step !== null && isHomePath(new URL(step)))) return null;
  return steps.map(({ name }) => name).join(' > ') || null;
}

/** A part of an address: "garden-tools-12". */
const addressPart = /^\p{Ll}[\p{Ll}\d]*(?:-[\p{Ll}\d]+)+$/u;

/**
 * Returns a category or a path of them as text. Null for the number of one, "658", and for a part
 * of its address.
 */
function categoryName(category: string | null): string | null {
  if (category === null || !/\p{L}/u.test(category) || addressPart.test(category)) return null;
  return category.replace(/ (?:<|»|›) /g, ' > ');
}

/** Returns an address without its query and fragment. */
export const withoutQuery = (address: string | null): string | null =>
  address?.split(/[?#]/)[0] ?? null;

/** Highest mean of ratings. */
const maxRating = 5;

/** Returns the numbers of reviews and of ratings, as far as they are stated. */
const ratingCounts = ({ reviewCount, ratingCount }: JsonObject): number[] =>
  [reviewCount, ratingCount].map((raw) => count(onlyText(raw))).filter((one) => one !== null);

/**
 * Returns the mean of ratings on a scale up to 5. Null for 0, above 5 without a scale, outside of
 * the scale, and without ratings: shops write 0 or 5 stars for products that are not rated.
 */
function ratingOf(rating: JsonObject): number | null {
  const [value, best, worst] = [rating.ratingValue, rating.bestRating, rating.worstRating].map(
    (raw) => number(onlyText(raw)),
  );
  const counts = ratingCounts(rating);
  const isUnrated = counts.length > 0 && counts.every((one) => one === 0);
  return isUnrated ? null : scaledRating(value ?? null, best ?? null, worst ?? 0);
}

/** A rating and its scale: "4.5 out of 5", "9/10". */
const ratingOfScale =
  /(\d+(?:[.,]\d+)?)\s?(?:\/|out of|of|von|sur|su|de|di|av|af|van|z|из)\s?(\d+)(?![.,]?\d)/iu;

/**
 * Returns the rating in a text by the rules of ratingOf(). Null for several numbers without a
 * scale.
 */
export function shownRating(text: string): number | null {
  const [, value, best] = ratingOfScale.exec(text) ?? [];
  if (value !== undefined) return scaledRating(number(value), number(best), 0);
  const numbers = text.match(/\d+(?:[.,]\d+)?/g) ?? [];
  return numbers.length === 1 && !text.includes('%')
    ? scaledRating(number(numbers[0]), null, 0)
    : null;
}

function scaledRating(value: number | null, best: number | null, worst: number): number | null {
  if (value === null || value <= 0) return null;
  // Some shops write the best rating of their customers instead of the maximum of the scale.
  const hasScale = best !== null && Number.isInteger(best) && best > 0;
  const highest = hasScale ? best : maxRating;
  if (value > highest || value < worst) return null;
  if (highest === maxRating) return value;
  if (worst < 0 || worst > 1) return null;
  const scaled = (value / highest) * maxRating;
  return Math.round(scaled * 100) / 100;
}

/** Returns the number of a product, otherwise that of its only offer. */
function skuOf(item: JsonObject, data: StructuredData): string | null {
  const own = codeOf(item.sku) ?? codeOf(item.productGroupID) ?? codeOf(item.productID);
  const [offer, ...more] = itemsOf(item.offers, data);
  return own ?? (more.length > 0 ? null : codeOf(offer?.sku));
}

/** Reads a product item. `page`: address of its page. */
export function readStructured(
  item: JsonObject,
  data: StructuredData,
  page: string,
): StructuredProduct {
  const offers = offersOf(item, data, page);
  const variants = variantsOf(item, offers, data, page);
  const offer = chooseOffer(offers.length > 0 ? offers : variants, page);
  const variantOffer = chooseOffer(variants, page) ?? offer;
  const rating = object(itemsOf(item.aggregateRating, data)[0]);
  const price = offer?.price ?? null;
  const isUnclear = offer !== null && offer.readings.length > 0;
  const values: ProductValues = {
    title: plainText(item.name),
    brand: brandName(plainText(item.brand)) ?? brandName(plainText(item.manufacturer)),
    sku: skuOf(item, data),
    gtin: gtinOf(item),
    mpn: codeOf(item.mpn),
    description: plainText(item.description),
    category: categoryName(plainText(item.category)),
    price: isUnclear ? null : (price ?? lowestPrice(variants.map((variant) => variant.price))),
    currency: offer?.currency ?? variantOffer?.currency ?? null,
    list_price: offer?.listPrice ?? null,
    availability: offer?.availability ?? variantOffer?.availability ?? null,
    condition: offer?.condition ?? conditionOf(item),
    seller: offer?.seller ?? null,
    rating: ratingOf(rating),
    review_count: ratingCounts(rating)[0] ?? null,
    images: imagesOf(item, data, page),
    variants: variants.map(({ id, name, price, available, url }) => ({
      id,
      name,
      price,
      available,
      url,
    })),
  };
  return {
    format: data.format,
    values,
    offer,
    offers: [...offers, ...variants],
    isGrouped: (item.hasVariant ?? item.model ?? item.isVariantOf) !== undefined,
  };
}

/** A product of a page, with its name and its addresses. */
interface NamedProduct {
  item: JsonObject;
  name: string;
  /** The addresses in its `url`, its `@id`, and its `mainEntityOfPage`. */
  links: (string | null)[];
}

function namedProduct(item: JsonObject, url: string, base: string | null): NamedProduct {
  const { url: own, '@id': id, mainEntityOfPage: page } = item;
  const links = [own, id, page].map(
    (link) => addressOn(url, text(link), base)?.split('#')[0] ?? null,
  );
  return { item, name: plainName(plainText(item.name)), links };
}

/** Returns the products with a price, or all products if none has a price. */
function withOffers(products: readonly NamedProduct[]): readonly NamedProduct[] {
  const offered = products.filter(
    ({ item: { offers, hasVariant, price } }) => (offers ?? hasVariant ?? price) !== undefined,
  );
  return offered.length > 0 ? offered : products;
}

/**
 * Returns the product that a page is about: the one with its address, or whose name is in `titles`.
 * Null if the page states no product, or several of which any could be meant.
 */
function mainProduct(
  products: readonly NamedProduct[],
  url: string,
  titles: readonly string[],
): NamedProduct | null {
  const addresses = new Set(products.flatMap(({ links }) => links));
  const address = [url, url.split('?')[0]!].find((one) => addresses.has(one));
  const isAbout = ({ links }: NamedProduct) => address === undefined || links.includes(address);
  const candidates = withOffers(products.filter(isAbout));
  const [first = null, ...rest] = candidates;
  let named: NamedProduct | null = null;
  for (const product of candidates) {
    const isLonger = named === null || product.name.length > named.name.length;
    if (isLonger && titles.some((title) => title.includes(product.name))) named = product;
  }
  if (first === null || rest.some(({ name }) => name !== first.name)) return named;
  // The only product can be a related one, with the address of its own page.
  const isElsewhere = address === undefined && first.links[0] !== null && titles.length > 0;
  return isElsewhere ? named : first;
}

/**
 * Returns the items that describe the product of a page in one format of structured data, the main
 * one first: others have its name or its address. `headings`: the headings and titles of the page.
 * Empty if the page states no product, or several of which any could be meant.
 */
export function findProducts(
  data: StructuredData,
  url: string,
  headings: readonly (string | null)[],
): JsonObject[] {
  const products = data.items.filter(isProduct).map((item) => namedProduct(item, url, data.base));
  const titles = headings.filter((title) => title !== null).slice(0, maxTitles);
  const main = mainProduct(products, url, titles.map(plainName));
  if (main === null) return [];
  const addresses = new Set(main.links.filter((link) => link !== null));
  const twins = products.filter((product) => {
    if (product === main) return false;
    if (product.links.some((link) => link !== null && addresses.has(link))) return true;
    // Products of the same name can have pages of their own.
    const isElsewhere = product.links[0] !== null && main.links[0] !== null;
    return !isElsewhere && product.name.trim() !== '' && product.name === main.name;
  });
  return [main, ...twins.slice(0, maxTwins)].map(({ item }) => item);
}
