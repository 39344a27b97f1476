import type { Command } from 'commander';
import { HistoryService, type Rule, RuleSchema } from '../../../gen/gleaner/history/v1/history_pb.ts';
import { addCommand } from './command.ts';
import { UsageError } from './exit.ts';
import { type Column, type Display, plain } from './print.ts';

const { createRule, deleteRule, getRule, listRules, updateRule } = HistoryService.method;

/** Describes the items that a rule is about. */
const scopeOf = ({ market, region, key, series }: Rule): string =>
  [[market, region, key].filter(Boolean).join('/'), series === '' ? '' : `series ${series}`]
    .filter(Boolean)
    .join(', ') || 'all';

/** Describes a condition: `price_falls_by 5`, `changes title`. */
const conditionOf = ({ condition, threshold, field }: Rule): string =>
  [condition, threshold ?? '', field].filter((part) => part !== '').join(' ');

const columns: Column<Rule>[] = [
  { name: 'RULE', text: ({ ruleId }) => ruleId },
  { name: 'NAME', text: ({ name }) => plain(name) },
  { name: 'CONDITION', text: conditionOf },
  { name: 'ITEMS', text: (rule) => plain(scopeOf(rule)) },
  { name: 'BY', text: ({ channel }) => channel },
  {
    name: 'STATUS',
    text: ({ enabled }) => (enabled ? 'on' : 'off'),
    paint: (text, { state }) => state(text),
  },
];

const words =
  (rule: Rule) =>
  ({ pairs, time }: Display) =>
    pairs([
      ['rule', rule.ruleId],
      ['name', plain(rule.name)],
      ['condition', conditionOf(rule)],
      ['items', plain(scopeOf(rule))],
      ['channel', rule.channel],
      ['status', rule.enabled ? 'on' : 'off'],
      ['updated', time(rule.updatedAt)],
    ]);

/** Options of the commands that write a rule. */
interface RuleOptions {
  name?: string;
  threshold?: string;
  field?: string;
  market?: string;
  region?: string;
  item?: string;
  series?: string;
  email?: true;
  off?: true;
}

const ruleOptions: (readonly [string, string])[] = [
  ['--name <name>', 'display name'],
  ['--threshold <number>', 'percentage or price'],
  ['--field <name>', 'value of the condition changes: price, stock, title, …'],
  ['--market <name>', 'only items of this marketplace'],
  ['--region <code>', 'only items of this region'],
  ['--item <key>', 'only the item with this key'],
  ['--series <name>', 'only jobs of this series'],
  ['--email', 'send e-mails instead of webhooks'],
  ['--off', 'keep the rule without using it'],
];

function fieldsOf(condition: string, options: RuleOptions) {
  const { threshold, email, off, name = '', field = '', market = '', region = '' } = options;
  const { item: key = '', series = '' } = options;
  const number = threshold === undefined ? undefined : Number(threshold);
  if (number !== undefined && (threshold === '' || !Number.isFinite(number)))
    throw new UsageError(`--threshold: "${threshold}" is not a number`);
  return {
    ...{ name, condition, field, market, region, key, series },
    ...(number === undefined ? {} : { threshold: number }),
    channel: email ? 'email' : 'webhook',
    disabled: off === true,
  };
}

/** Adds `rules`. */
export function addRuleCommands(program: Command): void {
  const rules = program.command('rules').description('Manage rules that send messages about tracked items');
  addCommand(rules, {
    usage: 'list',
    about: 'List your rules, oldest first',
    async run(session) {
      const { rules: found } = await session.user().call(listRules, {}, { signal: session.signal });
      await session.list(RuleSchema, found, columns, 'No rules.');
    },
  });
  addCommand(rules, {
    usage: 'show <rule-id>',
    about: 'Show a rule',
    async run(session, _options, ruleId: string) {
      const rule = await session.user().call(getRule, { ruleId }, { signal: session.signal });
      await session.show(RuleSchema, rule, words(rule));
    },
  });
  addCommand<RuleOptions>(rules, {
    usage: 'create <condition>',
    about:
      'Create a rule: price_falls_by, price_rises_by, price_below, price_above, back_in_stock, out_of_stock, or changes',
    options: ruleOptions,
    async run(session, options, condition: string) {
      const rule = await session
        .user()
        .call(createRule, fieldsOf(condition, options), { signal: session.signal });
      await session.show(RuleSchema, rule, words(rule));
    },
  });
  addCommand<RuleOptions>(rules, {
    usage: 'replace <rule-id> <condition>',
    about: 'Replace a rule, which starts over',
    options: ruleOptions,
    async run(session, options, ruleId: string, condition: string) {
      const request = { ...fieldsOf(condition, options), ruleId };
      const rule = await session.user().call(updateRule, request, { signal: session.signal });
      await session.show(RuleSchema, rule, words(rule));
    },
  });
  addCommand(rules, {
    usage: 'delete <rule-id>',
    about: 'Delete a rule',
    async run(session, _options, ruleId: string) {
      await session.user().call(deleteRule, { ruleId }, { signal: session.signal });
      session.note(`Deleted ${ruleId}.`);
    },
  });
}
