import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type {
  ItemChangeSchema,
  ItemValuesSchema,
  ObservationSchema,
  RuleSchema,
  TrackedItemSchema,
} from '../../../gen/gleaner/history/v1/history_pb.ts';
import { type TrackedField, type TrackedValues, trackedFields } from '../../base/tracked-values.ts';
import { noRegion } from '../../contract/track.ts';
import type { ItemChange, Observation, Rule, TrackedItem } from '../../store/history.ts';

const shownRegion = (region: string): string => (region === '' ? noRegion : region);

/** Returns a copy of the object without null properties. */
function withoutNulls<T extends object>(value: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}

/** Returns the values as the contract shows them, limited to `fields` unless it is empty. */
function toValuesMessage(
  values: TrackedValues,
  fields: readonly TrackedField[] = [],
): MessageInitShape<typeof ItemValuesSchema> {
  const isWanted = (name: TrackedField) => fields.length === 0 || fields.includes(name);
  const shown = Object.fromEntries(
    Object.entries(values).filter(([name]) => isWanted(name as TrackedField)),
  ) as unknown as TrackedValues;
  const { stock, sold, variants, ...others } = withoutNulls(shown);
  return {
    ...others,
    ...(stock === undefined ? {} : { stock: BigInt(stock) }),
    ...(sold === undefined ? {} : { sold: BigInt(sold) }),
    variants: (variants ?? []).map((variant) => {
      const { stock: pieces, ...rest } = withoutNulls(variant);
      return { ...rest, ...(pieces === undefined ? {} : { stock: BigInt(pieces) }) };
    }),
  };
}

export function toItemMessage(item: TrackedItem): MessageInitShape<typeof TrackedItemSchema> {
  const { market, region, key, values, isPresent, firstAt, changedAt, seenAt, seenJob } = item;
  return {
    market,
    region: shownRegion(region),
    key,
    values: toValuesMessage(values),
    present: isPresent,
    firstAt: timestampFromMs(firstAt),
    changedAt: timestampFromMs(changedAt),
    seenAt: timestampFromMs(seenAt),
    jobId: seenJob,
  };
}

export function toObservationMessage(
  { at, endedAt, jobId, changed, values }: Observation,
  fields: readonly TrackedField[],
): MessageInitShape<typeof ObservationSchema> {
  return {
    observedAt: timestampFromMs(at),
    ...(endedAt === null ? {} : { endedAt: timestampFromMs(endedAt) }),
    jobId,
    changed: [...changed],
    values: toValuesMessage(values, fields),
  };
}

export function toChangeMessage(change: ItemChange): MessageInitShape<typeof ItemChangeSchema> {
  const { type, market, region, key, title, at, before, after } = change;
  return {
    type,
    market,
    region: shownRegion(region),
    key,
    ...(title === null ? {} : { title }),
    ...(after.currency ? { currency: after.currency } : {}),
    at: timestampFromMs(at),
    fields: trackedFields
      .filter((field) => field in after && !(field === 'currency' && before.currency === after.currency))
      .map((field) => ({ field, ...jsonOf('before', before[field]), ...jsonOf('after', after[field]) })),
  };
}

const jsonOf = (name: 'before' | 'after', value: unknown) =>
  value === undefined || value === null ? {} : { [name]: JSON.stringify(value) };

export function toRuleMessage(rule: Rule): MessageInitShape<typeof RuleSchema> {
  const { id, userId: _, revision: __, threshold, createdAt, updatedAt, ...shown } = rule;
  return {
    ...shown,
    ruleId: id,
    ...(threshold === null ? {} : { threshold }),
    createdAt: timestampFromMs(createdAt),
    updatedAt: timestampFromMs(updatedAt),
  };
}
