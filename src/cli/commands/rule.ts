import type { Command } from 'commander';
import {
  HistoryService,
  type Rule,
  RuleSchema,
} from '../../../gen/gleaner/history/v1/history_pb.ts';
import { conditionText, scopeText } from '../../present/rule.ts';
import { addCommand } from './command.ts';
import { UsageError } from './exit.ts';
import { marketPath, regionCode } from './market-names.ts';
import { type Display, type PrintedColumn, plain } from './print.ts';
import { addList, addShow } from './resource.ts';

const { createRule, deleteRule, getRule, listRules, updateRule } = HistoryService.method;

const columns: PrintedColumn<Rule>[] = [
  { name: 'RULE', text: ({ ruleId }) => ruleId },
  { name: 'NAME', text: ({ name }) => plain(name) },
  { name: 'CONDITION', text: conditionText },
  { name: 'ITEMS', text: (rule) => plain(scopeText(rule)) },
  { name: 'BY', text: ({ channel }) => channel },
  {
    name: 'STATUS',
    text: ({ enabled }) => (enabled ? 'on' : 'off'),
    paint: (text, { state }) => state(text),
  },
];

const words = (rule: Rule, { pairs, time }: Display) =>
  pairs([
    ['rule', rule.ruleId],
    ['name', plain(rule.name)],
    ['condition', conditionText(rule)],
    ['items', plain(scopeText(rule))],
    ['channel', rule.channel],
    ['status', rule.enabled ? 'on' : 'off'],
    ['updated', time(rule.updatedAt)],
  ]);

/** Options of `create`. */
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
  replace?: string;
}

const ruleOptions: (readonly [string, string])[] = [
  ['--name <name>', 'display name'],
  ['--threshold <number>', 'percentage or price'],
  ['--field <name>', 'value of the condition changes: price, stock, title, …'],
  ['--market <name>', 'only items of this marketplace'],
  ['--region <code>', 'only items of this region'],
  ['--item <key>', 'only the item with this key'],
  ['--series <name>', 'only jobs of this series'],
  ['--email', 'send emails instead of webhooks'],
  ['--off', 'keep the rule without using it'],
  ['--replace <rule-id>', 'replace this rule, which starts over'],
];

function parseFields(condition: string, options: RuleOptions) {
  const { threshold, email, off, name = '', field = '', market = '', region = '' } = options;
  const { item: key = '', series = '' } = options;
  const number = threshold === undefined ? undefined : Number(threshold);
  if (number !== undefined && (threshold === '' || !Number.isFinite(number)))
    throw new UsageError(`--threshold: "${threshold}" is not a number`);
  return {
    name,
    condition,
    field,
    market: marketPath(market),
    region: regionCode(region),
    key,
    series,
    threshold: number,
    channel: email ? 'email' : 'webhook',
    disabled: off === true,
  };
}

export function addRuleCommands(program: Command): void {
  const rule = program
    .command('rule')
    .description('Manage rules that send messages about tracked items');
  addList(rule, {
    usage: 'list',
    about: 'List your rules, oldest first',
    method: listRules,
    columns,
    none: 'No rules.',
  });
  addShow(rule, {
    usage: 'show <rule-id>',
    about: 'Show a rule',
    method: getRule,
    words,
  });
  addCommand<RuleOptions>(rule, {
    usage: 'create <condition>',
    about:
      'Create a rule: price_falls_by, price_rises_by, price_below, ' +
      'price_above, back_in_stock, out_of_stock, or changes',
    options: ruleOptions,
    async run(session, { replace: ruleId, ...options }, condition: string) {
      const fields = parseFields(condition, options);
      const { client, show } = session;
      const saved =
        ruleId === undefined
          ? await client.call(createRule, fields)
          : await client.call(updateRule, { ...fields, ruleId });
      await show(RuleSchema, saved, (display) => words(saved, display));
    },
  });
  addShow(rule, {
    usage: 'delete <rule-id...>',
    about: 'Delete rules',
    method: deleteRule,
    words: (_deleted, _display, ruleId) => `${ruleId} deleted\n`,
  });
}
