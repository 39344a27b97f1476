import type { Command } from 'commander';
import { type Operator, OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { count, type Display, type PrintedColumn } from './print.ts';
import { addList, addShow } from './resource.ts';

function lastUsed({ keys }: Operator, { time }: Display): string {
  const uses = keys.flatMap(({ lastUsedAt }) => lastUsedAt ?? []);
  return time(uses.toSorted((one, other) => Number(one.seconds - other.seconds)).at(-1)) || 'never';
}

const columns: PrintedColumn<Operator>[] = [
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

export function addOperatorCommands(program: Command): void {
  const { createOperator, listOperators } = OperatorService.method;
  const operator = program
    .command('operator')
    .description('Manage operators; manage their keys with `key`');
  addList(operator, {
    usage: 'list',
    about: 'List operators, newest first',
    method: listOperators,
    columns,
    none: 'No operators.',
  });
  addShow(operator, {
    usage: 'create <name>',
    about: 'Create an operator without keys and print its id',
    method: createOperator,
    words: ({ id }) => `${id}\n`,
  });
}
