import type { ItemValues, TrackedItem } from '../../gen/gleaner/history/v1/history_pb.ts';
import { marketText } from './names.ts';

/** Returns the marketplace and region of an item: "Marketplace A, id". */
export const placeText = ({ market, region }: Pick<TrackedItem, 'market' | 'region'>): string =>
  region === '-' ? marketText(market) : `${marketText(market)}, ${region}`;

/** Formats the price of an item; a dash if it is not known. */
export function priceText(values: ItemValues | undefined): string {
  if (values?.price === undefined) return '–';
  const amount = values.price.toLocaleString('en-US', { maximumFractionDigits: 2 });
  return values.currency ? `${amount} ${values.currency}` : amount;
}

/** Formats the stock of an item: the pieces, or whether it can be bought. */
export function stockText(values: ItemValues | undefined): string {
  if (values?.stock !== undefined) return values.stock.toLocaleString('en-US');
  if (values?.available === undefined) return '–';
  return values.available ? 'Available' : 'Not available';
}
