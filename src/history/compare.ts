import {
  type TrackedField,
  type TrackedValues,
  type TrackedVariant,
  trackedFields,
} from '../base/tracked-values.ts';
import { variantKey } from '../markets/tracked.ts';

/** Difference of a reading from the values before it. */
export interface Difference {
  /** All known values: the reading's, and earlier values of fields that the reading lacks. */
  values: TrackedValues;
  changed: readonly TrackedField[];
  /** The changed values, before and after, and the currency of a changed price. */
  before: Partial<TrackedValues>;
  after: Partial<TrackedValues>;
}

/**
 * Compares the values of a reading with the last known ones, null for an item that was not read
 * before. A value that the reading does not state is no change, because pages of other kinds state
 * other values.
 */
export function compare(last: TrackedValues | null, stated: TrackedValues): Difference {
  const current = { ...stated, variants: withPrices(stated.variants, last?.variants ?? null) };
  const statedFields = statedFieldsOf(last, current);
  const values = { ...(last ?? current), ...pick(current, statedFields) };
  const changed =
    last === null
      ? statedFields
      : statedFields.filter((field) => !isEqual(last[field], current[field]));
  const reportedFields = trackedFields.filter(
    (field) => changed.includes(field) || (field === 'currency' && changed.includes('price')),
  );
  return {
    values,
    changed,
    before: last === null ? {} : pick(last, reportedFields),
    after: pick(values, reportedFields),
  };
}

/**
 * Returns the fields that a reading states. A currency without a price, such as that of a sold-out
 * item, is not the currency of the earlier price.
 */
function statedFieldsOf(
  last: TrackedValues | null,
  current: TrackedValues,
): readonly TrackedField[] {
  const hasPrice = current.price !== null || (last?.price ?? null) === null;
  return trackedFields.filter(
    (field) => current[field] !== null && (hasPrice || field !== 'currency'),
  );
}

/** Returns variants, each with its last known price if the page does not state one. */
function withPrices(
  variants: TrackedValues['variants'],
  last: TrackedValues['variants'],
): TrackedValues['variants'] {
  if (variants === null || last === null) return variants;
  const prices = new Map(last.map(({ id, price }) => [id, price]));
  prices.delete(null);
  return variants.map((variant) => ({
    ...variant,
    price: variant.price ?? prices.get(variant.id) ?? null,
  }));
}

/** Returns the named values only. */
function pick(values: TrackedValues, fields: readonly TrackedField[]): Partial<TrackedValues> {
  return Object.fromEntries(fields.map((field) => [field, values[field]]));
}

/** Returns true if values are equal. Variants are compared as a set, regardless of their order. */
function isEqual(one: TrackedValues[TrackedField], other: TrackedValues[TrackedField]): boolean {
  if (one === null || other === null || typeof one !== 'object' || typeof other !== 'object')
    return one === other;
  const keysOf = (variants: readonly TrackedVariant[]) => variants.map(variantKey).sort().join();
  return one.length === other.length && keysOf(one) === keysOf(other);
}
