import { type TrackedField, trackedFields } from '../base/tracked-values.ts';
import { Fault, type Problem } from '../contract/fault.ts';
import { noRegion } from '../contract/track.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';
import type { Rule, RuleCondition } from '../store/history.ts';
import { maxRules } from './rules.ts';

/** Dependencies of this module. */
export type RuleBookContext = Pick<JobContext, 'clock' | 'newId'> &
  StoreUse<'createRule' | 'deleteRule' | 'getRule' | 'listRules' | 'putRule'>;

/** Fields of a rule that its user sets. */
export type RuleFields = Pick<
  Rule,
  | 'name'
  | 'condition'
  | 'threshold'
  | 'field'
  | 'market'
  | 'region'
  | 'key'
  | 'series'
  | 'channel'
  | 'enabled'
>;

/** Conditions with a threshold. */
const onPrices: ReadonlySet<RuleCondition> = new Set([
  'price_falls_by',
  'price_rises_by',
  'price_below',
  'price_above',
]);
const maxThreshold = 1e12;

/** Returns a user's rule. Fault `not_found`. */
export async function findRule({ store }: RuleBookContext, userId: string, id: string): Promise<Rule> {
  const rule = await store.getRule(id.toLowerCase());
  if (rule === null || rule.userId !== userId) throw new Fault('not_found', `There is no rule '${id}'.`);
  return rule;
}

/** Creates a rule. Faults: `invalid`; `conflict` for a user with the maximum number of rules. */
export async function addRule(context: RuleBookContext, userId: string, fields: RuleFields): Promise<Rule> {
  const { store, clock, newId } = context;
  check(fields);
  const now = clock.now();
  const rule = { ...normal(fields), id: newId(), userId, createdAt: now, updatedAt: now, revision: 1 };
  if ((await store.listRules(userId)).length >= maxRules)
    throw new Fault('conflict', `An account has up to ${maxRules} rules. Delete one first.`);
  await store.createRule(rule);
  return rule;
}

/** Replaces a rule. Faults: `invalid`; `not_found`; `conflict` if it was changed concurrently. */
export async function changeRule(
  context: RuleBookContext,
  userId: string,
  id: string,
  fields: RuleFields,
): Promise<Rule> {
  check(fields);
  const rule = await findRule(context, userId, id);
  const changed = { ...rule, ...normal(fields), updatedAt: context.clock.now(), revision: rule.revision + 1 };
  if (!(await context.store.putRule(changed)))
    throw new Fault('conflict', 'The rule was changed or deleted concurrently. Try again.');
  return changed;
}

/** Deletes a rule. Fault `not_found`. */
export async function removeRule({ store }: RuleBookContext, userId: string, id: string): Promise<void> {
  if (!(await store.deleteRule(id.toLowerCase(), userId)))
    throw new Fault('not_found', `There is no rule '${id}'.`);
}

const normal = (fields: RuleFields): RuleFields => ({
  ...fields,
  region: fields.region === noRegion ? '' : fields.region,
});

/** Checks what the contract's rules cannot express: which conditions have a threshold or a field. */
function check({ condition, threshold, field }: RuleFields): void {
  const problems: Problem[] = [];
  const add = (name: string, msg: string, type = 'value_error') =>
    problems.push({ loc: ['body', name], msg, type });
  if (onPrices.has(condition)) {
    if (threshold === null) add('threshold', `Field required for the condition ${condition}`, 'missing');
    else if (!(threshold > 0 && threshold <= maxThreshold))
      add('threshold', `Value should be greater than 0 and at most ${maxThreshold}, not ${threshold}`);
    else if (condition === 'price_falls_by' && threshold > 100)
      add('threshold', `A price cannot fall by ${threshold} %: the maximum is 100`);
  } else if (threshold !== null) add('threshold', `The condition ${condition} has no threshold`);
  if (condition === 'changes') {
    if (!trackedFields.includes(field as TrackedField))
      add('field', 'Field required for the condition changes', 'missing');
  } else if (field !== '') add('field', `The condition ${condition} has no field`);
  if (problems.length > 0) throw new Fault('invalid', 'The rule is not valid.', { problems });
}
