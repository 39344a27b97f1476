import type { Command } from 'commander';
import {
  type Operator,
  OperatorSchema,
  OperatorService,
} from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { addCommand, integer, limitOption, pageSize, take } from './command.ts';
import { type Column, count, type Display } from './print.ts';

/** Formats the time of the last use of any key. */
function lastUsed({ keys }: Operator, { time }: Display): string {
  const uses = keys.flatMap(({ lastUsedAt }) => lastUsedAt ?? []);
  return time(uses.toSorted((one, other) => Number(one.seconds - other.seconds)).at(-1)) || 'never';
}

const columns: Column<Operator>[] = [
  { name: 'OPERATOR', text: ({ id }) => id },
  { name: 'NAME', text: ({ name }) => name },
  {
    name: 'ACTIVE KEYS',
    text: ({ keys }) => count(keys.filter(({ revokedAt }) => revokedAt === undefined).length),
    isNumber: true,
  },
  { name: 'LAST USED', text: lastUsed },
  { name: 'CREATED', text: ({ createdAt }, { time }) => time(createdAt) },
];

const { createOperator, listOperators } = OperatorService.method;

/** Adds `operator list` and `operator create`. */
export function addOperatorCommands(program: Command): void {
  const operator = program.command('operator').description('Manage operators; manage their keys with `key`');
  addCommand<{ limit?: string }>(operator, {
    usage: 'list',
    about: 'List operators, newest first',
    options: [limitOption],
    async run(session, { limit }) {
      const max = integer('--limit', limit, 50);
      const pages = session
        .operator()
        .pages(listOperators, { pageSize: pageSize(max) }, { signal: session.signal });
      const operators = await take(pages, (page) => page.operators, max);
      await session.list(OperatorSchema, operators, columns, 'No operators.');
    },
  });
  addCommand(operator, {
    usage: 'create <name>',
    about: 'Create an operator without keys and print its id',
    async run(session, _options, name: string) {
      const created = await session.operator().call(createOperator, { name }, { signal: session.signal });
      await session.show(OperatorSchema, created.operator!, () => `${created.operator!.id}\n`);
    },
  });
}
