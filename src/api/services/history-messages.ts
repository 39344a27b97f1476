import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type ItemChangeSchema,
  ItemValuesSchema,
  ObservationSchema,
  RuleSchema,
  TrackedItemSchema,
} from '../../../gen/gleaner/history/v1/history_pb.ts';
import { type TrackedField, trackedFields } from '../../base/tracked-values.ts';
import { shownPlace } from '../../markets/lookup.ts';
import type { ItemChange, Observation, Rule, TrackedItem } from '../../store/history.ts';
import { toMessage } from './to-message.ts';

const valuesOf = toMessage(ItemValuesSchema);
const itemOf = toMessage(TrackedItemSchema);
const observationOf = toMessage(ObservationSchema, 'values');
const ruleOf = toMessage(RuleSchema);

export function toItemMessage(item: TrackedItem): MessageInitShape<typeof TrackedItemSchema> {
  const { isPresent: present, seenJob: jobId } = item;
  return itemOf({
    ...item,
    ...shownPlace(item),
    present,
    jobId,
  });
}

/** Returns an observation with its values, limited to `fields` unless it is empty. */
export function toObservationMessage(
  observation: Observation,
  fields: readonly TrackedField[],
): MessageInitShape<typeof ObservationSchema> {
  const statedValues = Object.entries(observation.values).filter(
    ([name]) => fields.length === 0 || fields.includes(name as TrackedField),
  );
  return {
    ...observationOf({ ...observation, observedAt: observation.at }),
    values: valuesOf(Object.fromEntries(statedValues)),
  };
}

export function toChangeMessage(
  change: ItemChange,
  cursor: string,
): MessageInitShape<typeof ItemChangeSchema> {
  const { type, market, key, title, at, before, after, jobId } = change;
  return {
    type,
    market,
    ...shownPlace(change),
    key,
    ...(title === null ? {} : { title }),
    ...(after.currency ? { currency: after.currency } : {}),
    at: timestampFromMs(at),
    jobId,
    cursor,
    fields: trackedFields
      .filter((field) => field in after && !isRepeatedCurrency(field, before, after))
      .map((field) => ({
        field,
        ...jsonOf('before', before[field]),
        ...jsonOf('after', after[field]),
      })),
  };
}

/** Returns true for the currency of a price that is the same before and after. */
const isRepeatedCurrency = (
  field: TrackedField,
  before: ItemChange['before'],
  after: ItemChange['after'],
) => field === 'currency' && (before.currency ?? null) === (after.currency ?? null);

function jsonOf(name: 'before' | 'after', value: unknown) {
  if (value === undefined || value === null) return {};
  return { [name]: JSON.stringify(value) };
}

export function toRuleMessage(rule: Rule): MessageInitShape<typeof RuleSchema> {
  return ruleOf({ ...rule, ruleId: rule.id });
}
