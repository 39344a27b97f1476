import { isObject, type Json, type JsonObject } from '../../base/json.ts';
import { readAvailability } from '../availability/availability.ts';
import { positive, text } from '../fields.ts';
import type { PageWork } from '../html/page-work.ts';
import { isCurrencyCode } from '../money/currencies.ts';
import { shownAmount } from '../money/money.ts';
import { anyOf } from '../patterns.ts';
import { brandName } from '../structured-data/brand.ts';

// Members of the objects of products in embedded states.

const priceMembers =
  /^(?:(?:sale|final|current|selling|special|unit|display|total|product|now)[_-]?)?price(?:[_-]?(?:amount|value|incl|now))?$/i;
const innerPrices = ['now', 'value', 'amount', 'current', 'price', 'finalPrice'];
const skuMembers = anyOf(
  [
    'sku',
    'product_?(?:code|number|sku)',
    'article_?(?:number|code|no)',
    'item_?code',
    'display_?code',
    'reference',
  ],
  { flags: 'i', before: '^', after: '$' },
);
const idMembers = /^(?:id|code|(?:product|item|prod|article|offer)_?(?:id|no))$/i;
const currencyMembers = /^(?:price_?)?currency(?:_?(?:code|iso))?$/i;
const stockMembers = /^(?:availability|(?:is_?)?in_?stock|(?:is_?)?available|stock_?status)$/i;
const brandMembers =
  /^(?:(?:item|product)_?)?(?:brand|manufacturer|vendor|marca|marke)(?:_?name)?$/i;

/** Maximum characters of an id or a number of a product, and of a brand. */
const maxCodeLength = 40;
const maxBrandLength = 60;

/** A value of a product in a state. */
export interface StateValue {
  field: 'price' | 'sku' | 'id' | 'availability' | 'currency' | 'brand';
  value: Json;
  path: string;
}

function amountOf(value: Json | undefined): number | null {
  if (isObject(value)) {
    const inner = innerPrices.find((name) => value[name] !== undefined && !isObject(value[name]));
    return inner === undefined ? null : amountOf(value[inner]);
  }
  if (typeof value === 'string') return shownAmount(value, null);
  return positive(value);
}

/** Returns the availability of a member: a boolean, or a text about stock. */
function availabilityOf(value: Json): string | null {
  if (typeof value === 'boolean') return value ? 'InStock' : 'OutOfStock';
  const { available, state } = readAvailability(text(value));
  return available === null ? null : state;
}

/** Returns the brand in a text or in the name of an object. Null for the number of one. */
function brandOf(value: Json): string | null {
  const stated = isObject(value) ? value.name : value;
  const brand = typeof stated === 'string' ? brandName(stated.trim()) : null;
  if (brand !== null && brand.length <= maxBrandLength && /\p{L}/u.test(brand)) return brand;
  return null;
}

/** Returns the value of a member of a product. Null for a member that is not a known field. */
function memberValue(name: string, value: Json): Omit<StateValue, 'path'> | null {
  if (priceMembers.test(name)) return { field: 'price', value: amountOf(value) };
  if (stockMembers.test(name)) return { field: 'availability', value: availabilityOf(value) };
  if (brandMembers.test(name)) return { field: 'brand', value: brandOf(value) };
  const code = text(value)?.trim() ?? null;
  if (code === null) return null;
  if (currencyMembers.test(name))
    return isCurrencyCode(code) ? { field: 'currency', value: code } : null;
  if (code.length > maxCodeLength) return null;
  if (skuMembers.test(name)) return { field: 'sku', value: code };
  return idMembers.test(name) ? { field: 'id', value: code } : null;
}

/** Yields the values of the members of a product's object at a path. */
export function* membersOf(value: JsonObject, path: string, work: PageWork): Generator<StateValue> {
  for (const [name, member] of Object.entries(value)) {
    const isParsed = priceMembers.test(name) || stockMembers.test(name);
    if (isParsed && typeof member === 'string') work.addParsed(member);
    const found = memberValue(name, member as Json);
    if (found !== null && found.value !== null)
      yield { ...found, path: `${path}.${name}`.slice(0, 200) };
  }
}
