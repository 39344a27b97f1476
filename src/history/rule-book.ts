import { create } from '@bufbuild/protobuf';
import { SubmitOptionsSchema } from '../../gen/gleaner/job/v1/submit_options_pb.ts';
import { type TrackedField, trackedFields } from '../base/tracked-values.ts';
import { Fault, type Problem } from '../contract/fault.ts';
import { isAddress } from '../contract/item-text.ts';
import { quote } from '../contract/problem-texts.ts';
import { validateMessage } from '../contract/problems.ts';
import { didYouMean } from '../contract/suggest.ts';
import { noRegion, seriesOf } from '../contract/track.ts';
import type { JobContext } from '../jobs/context.ts';
import { markets } from '../markets/list.ts';
import type { Rule, RuleCondition } from '../store/history.ts';
import { maxRules } from './rules.ts';

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

/** Returns a user's rule. Throws `not_found`. */
export async function findRule({ store }: JobContext, userId: string, id: string): Promise<Rule> {
  const rule = await store.rules.get(id.toLowerCase());
  if (rule === null || rule.userId !== userId)
    throw new Fault('not_found', `There is no rule '${id}'.`);
  return rule;
}

/** Creates a rule. Throws `invalid`; `conflict` for a user with the maximum number of rules. */
export async function addRule(
  context: JobContext,
  userId: string,
  fields: RuleFields,
): Promise<Rule> {
  const { store, clock, newId } = context;
  await check(context, userId, fields);
  const now = clock.now();
  const rule = {
    ...normal(fields),
    id: newId(),
    userId,
    createdAt: now,
    updatedAt: now,
    revision: 1,
  };
  if ((await store.rules.find({ userId })).length >= maxRules)
    throw new Fault('conflict', `An account has up to ${maxRules} rules. Delete one first.`);
  await store.rules.insert(rule);
  return rule;
}

/** Replaces a rule. Throws `invalid`; `not_found`; `conflict` if it was changed concurrently. */
export async function changeRule(
  context: JobContext,
  userId: string,
  id: string,
  fields: RuleFields,
): Promise<Rule> {
  const rule = await findRule(context, userId, id);
  await check(context, userId, fields);
  const changed = {
    ...rule,
    ...normal(fields),
    updatedAt: context.clock.now(),
    revision: rule.revision + 1,
  };
  if (!(await context.store.rules.put(changed)))
    throw new Fault('conflict', 'The rule was changed or deleted concurrently. Try again.');
  return changed;
}

/** Deletes a rule. Throws `not_found`. */
export async function removeRule({ store }: JobContext, userId: string, id: string): Promise<void> {
  if ((await store.rules.remove({ id: id.toLowerCase(), userId })) === 0)
    throw new Fault('not_found', `There is no rule '${id}'.`);
}

const normal = (fields: RuleFields): RuleFields => ({
  ...fields,
  region: fields.region === noRegion ? '' : fields.region,
});

/** Records the problem of a field. */
type AddProblem = (name: keyof RuleFields, msg: string, type?: string) => void;

/**
 * Checks what the contract's rules cannot express: a rule that can never fire is refused. Throws
 * `invalid`.
 */
async function check(context: JobContext, userId: string, fields: RuleFields): Promise<void> {
  const problems: Problem[] = [];
  const add: AddProblem = (name, msg, type = 'value_error') =>
    problems.push({ loc: ['body', name], msg, type });
  checkCondition(fields, add);
  problems.push(...problemsOfSeries(fields));
  checkMarketAndRegion(fields, add);
  if (isAddress(fields.key))
    add('key', 'Input should be the ID of an item, as its history shows it, not an address');
  if (fields.enabled && fields.channel === 'email') await checkEmail(context, userId, add);
  if (problems.length > 0) throw new Fault('invalid', 'The rule is not valid.', { problems });
}

/** Checks which conditions have a threshold or a field. */
function checkCondition({ condition, threshold, field }: RuleFields, add: AddProblem): void {
  if (onPrices.has(condition)) {
    if (threshold === null)
      add('threshold', `Field required for the condition ${condition}`, 'missing');
    else if (!(threshold > 0 && threshold <= maxThreshold))
      add(
        'threshold',
        `Value should be greater than 0 and at most ${maxThreshold}, not ${threshold}`,
      );
    else if (condition === 'price_falls_by' && threshold > 100)
      add('threshold', `A price cannot fall by ${threshold} %: the maximum is 100`);
  } else if (threshold !== null) add('threshold', `The condition ${condition} has no threshold`);
  if (condition === 'changes') {
    if (!trackedFields.includes(field as TrackedField))
      add('field', 'Field required for the condition changes', 'missing');
  } else if (field !== '') add('field', `The condition ${condition} has no field`);
}

/** Checks that the market has the region. */
function checkMarketAndRegion({ market, region }: RuleFields, add: AddProblem): void {
  const declaredMarket = markets.find(({ name }) => name === market);
  if (market !== '' && !declaredMarket) {
    const names = markets.map(({ name }) => name);
    add('market', unknown('marketplace', market, names), 'enum');
  }
  if (region === '' || region === noRegion) return;
  const regions = declaredMarket?.regions ?? [...new Set(markets.flatMap((each) => each.regions))];
  if (regions.length === 0)
    add('region', `Marketplace ${market} has no regions: leave the region empty`);
  else if (!regions.includes(region))
    add(
      'region',
      unknown(declaredMarket ? `region of ${market}` : 'region', region, regions),
      'enum',
    );
}

/**
 * Returns the problems of a name that no series can have: a series may get its first job after the
 * rule.
 */
function problemsOfSeries({ series }: RuleFields): Problem[] {
  const loc = ['body', 'series'];
  if (series !== '' && seriesOf(series) !== series)
    return [
      {
        loc,
        type: 'value_error',
        msg: `No series is named ${quote(series)}: leave it empty for all`,
      },
    ];
  return validateMessage(
    SubmitOptionsSchema,
    create(SubmitOptionsSchema, { track: series }),
    () => loc,
  );
}

const unknown = (what: string, value: string, choices: readonly string[]): string =>
  `${quote(value)} is not a ${what} (${choices.join(', ')}).${didYouMean(value, choices)}`;

/** Checks that messages of the channel `email` can be sent to a user. */
async function checkEmail({ store, settings }: JobContext, userId: string, add: AddProblem) {
  if (settings.notices.email === null)
    add(
      'channel',
      'This service sends no email: its operator has not set GLEANER_SMTP_URL. Use webhook',
    );
  else if (!(await store.users.get(userId))?.email)
    add('channel', 'This account has no email address. Ask an operator to add one, or use webhook');
}
