import { timestampMs } from '@bufbuild/protobuf/wkt';
import type {
  FieldChange,
  ItemChange,
  ItemValues,
  TrackedItem,
} from '../../gen/gleaner/history/v1/history_pb.ts';
import { marketTitle } from './names.ts';
import { capitalize, formatCount, formatNumber, numberFormat } from './text.ts';

/** Returns the marketplace of an item and its region or store: "Shopee, id". */
export function placeText({ market, region, store = '' }: ShownItemPlace): string {
  const regionOrStore = region === '-' ? store : region;
  if (regionOrStore === '') return marketTitle(market);
  return `${marketTitle(market)}, ${regionOrStore}`;
}

/** Marketplace, region, and store of an item. */
export type ShownItemPlace = Pick<TrackedItem, 'market' | 'region'> &
  Partial<Pick<TrackedItem, 'store'>>;

/**
 * Formats a price with its currency: "€1,915.30"; an unknown currency is used unchanged. A price
 * with more decimals than its currency has all of them, so that other prices have other texts.
 */
export function formatPrice(price: number, currency = ''): string {
  const options = { style: 'currency', currency, maximumFractionDigits: 20 } as const;
  try {
    return numberFormat(options).format(price);
  } catch {
    return `${formatNumber(price)} ${currency}`.trim();
  }
}

/** Formats a mean number of stars with one or two decimals, cut off: only 5 is "5.0". */
export const formatRating = (rating: number): string =>
  numberFormat({
    minimumFractionDigits: 1,
    maximumFractionDigits: 2,
    roundingMode: 'trunc',
  }).format(rating);

/** Formats the price of an item; a dash if it is not known. */
export function priceText(values: ItemValues | undefined): string {
  if (values?.price === undefined) return '–';
  return formatPrice(values.price, values.currency);
}

/** Formats whether an item can be bought. */
const availabilityText = (isAvailable: boolean): string =>
  isAvailable ? 'Available' : 'Not available';

/** Formats the stock of an item: the pieces, or whether it can be bought. */
export function stockText(values: ItemValues | undefined): string {
  if (values?.stock !== undefined) return formatCount(values.stock);
  if (values?.available === undefined) return '–';
  return availabilityText(values.available);
}

/** Names of the values of an item that are followed, in the order of the documentation. */
const valueNames: Readonly<Record<string, string>> = {
  title: 'title',
  price: 'price',
  currency: 'currency',
  stock: 'stock',
  available: 'availability',
  sold: 'sold count',
  rating: 'rating',
  variants: 'variants',
};

/** Returns whether an item has changed since its first reading. */
export const hasChanged = ({
  firstAt,
  changedAt,
}: Pick<TrackedItem, 'firstAt' | 'changedAt'>): boolean =>
  changedAt !== undefined && (!firstAt || timestampMs(changedAt) > timestampMs(firstAt));

/** Values whose changes a rule can report. */
export const trackedValues = Object.keys(valueNames);

/** Formats the name of a value: "availability" for `available`. */
export const valueName = (field: string): string => valueNames[field] ?? field;

/** Currencies of a price before and after. */
interface PriceCurrencies {
  before?: string | undefined;
  after?: string | undefined;
}

/** Describes the changed values of an item, each price in its own currency. */
export function changesText({ fields, currency }: Pick<ItemChange, 'fields' | 'currency'>): string {
  const changed = fields.find(({ field }) => field === 'currency');
  const before = changed?.before === undefined ? undefined : (JSON.parse(changed.before) as string);
  const currencies = { before: changed === undefined ? currency : before, after: currency };
  return fields.map((field) => changeText(field, currencies)).join(', ');
}

/**
 * Describes a changed value: "Price: €12.00 → €10.00". Both sides are JSON; absent if they are not
 * known.
 */
export function changeText(
  { field, before, after }: FieldChange,
  currencies: PriceCurrencies = {},
): string {
  const name = capitalize(valueName(field));
  const format = (json: string | undefined, currency: string | undefined): string => {
    const value: unknown = json === undefined ? null : JSON.parse(json);
    if (value === null) return 'unknown';
    if (typeof value === 'boolean') return availabilityText(value).toLowerCase();
    if (typeof value === 'number')
      return field === 'price' ? formatPrice(value, currency) : formatNumber(value);
    return String(value);
  };
  return field === 'variants'
    ? name
    : `${name}: ${format(before, currencies.before)} → ${format(after, currencies.after)}`;
}
