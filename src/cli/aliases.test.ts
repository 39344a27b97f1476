import { expect, test } from 'vitest';
import { withoutAlias } from './aliases.ts';

const id = '00000000-0000-4000-8000-000000000000';

test.each([
  ['jobs --status failed', 'job list --status failed'],
  ['jobs --all --limit 0', 'job list --user all --limit 0'],
  ['jobs --all --user u1', 'job list --user all --user u1'],
  [`job ${id} --operator`, `job show ${id} --user all`],
  ['job 12 --json', 'job show 12 --json'],
  ['watch --operator 12', 'job wait 12 --user all'],
  ['submit mktb pdp_bulk - --wait', 'job submit mktb pdp_bulk - --wait'],
  [`key create ${id} laptop --role viewer`, `key create --user ${id} laptop --role viewer`],
  [`key list ${id} --json`, `key list --user ${id} --json`],
  ['keys create ci --test', 'key create ci --test'],
  ['history mkta id 7 --fields price', 'item history mkta id 7 --fields price'],
  ['history mkta --series daily', 'item list mkta --series daily'],
  [
    `rules replace ${id} changes --field title`,
    `rule create --replace ${id} changes --field title`,
  ],
  ['rules list', 'rule list'],
  ['account --export -o all.jsonl', 'account export -o all.jsonl'],
  ['account', 'account show'],
  ['ledger --export csv', 'ledger list --export csv'],
  ['drift --all', 'drift list --all'],
  ['deliveries test', 'delivery test --user all'],
  ['origins check mkta --id mkta=1', 'doctor --origins mkta --id mkta=1'],
  ['origins', 'status origins'],
  ['schedules list --all', 'schedule list --user all'],
])('withoutAlias() replaces the former command `%s`', (former, command) => {
  expect(withoutAlias(former.split(' ')).join(' ')).toBe(command);
});

test.each([
  'job list',
  'job --help',
  'job',
  'account --help',
  'account export -o all.jsonl',
  'ledger list --export csv',
  'drift accept mkta search',
  'key create ci',
  'audit-log list --by u1',
  'serve',
  'nope',
])('withoutAlias() keeps `%s`', (command) => {
  expect(withoutAlias(command.split(' ')).join(' ')).toBe(command);
});
