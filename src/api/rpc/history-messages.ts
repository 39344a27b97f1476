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
import { noRegion } from '../../contract/track.ts';
import type { ItemChange, Observation, Rule, TrackedItem } from '../../store/history.ts';
import { toMessage } from './to-message.ts';

const shownRegion = (region: string): string => (region === '' ? noRegion : region);

const valuesOf = toMessage(ItemValuesSchema);
const itemOf = toMessage(TrackedItemSchema);
const observationOf = toMessage(ObservationSchema, 'values');
const ruleOf = toMessage(RuleSchema);

export function toItemMessage(item: TrackedItem): MessageInitShape<typeof TrackedItemSchema> {
  const { region, isPresent: present, seenJob: jobId } = item;
  return itemOf({ ...item, region: shownRegion(region), present, jobId });
}

/** Returns an observation with its values, limited to `fields` unless it is empty. */
export function toObservationMessage(
  observation: Observation,
  fields: readonly TrackedField[],
): MessageInitShape<typeof ObservationSchema> {
  const shown = Object.entries(observation.values).filter(
    ([name]) => fields.length === 0 || fields.includes(name as TrackedField),
  );
  return {
    ...observationOf({ ...observation, observedAt: observation.at }),
    values: valuesOf(Object.fromEntries(shown)),
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
  return ruleOf({ ...rule, ruleId: rule.id });
}
