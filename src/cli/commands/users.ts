import type { Command } from 'commander';
import { type Account, AccountSchema } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { GrantCreditsResponseSchema, OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { accountWords } from './account.ts';
import { addCommand, integer, limitOption, pageSize, take } from './command.ts';
import { type Column, count, time } from './print.ts';
import type { Session } from './session.ts';

const columns: Column<Account>[] = [
  { name: 'USER', text: ({ id }) => id },
  { name: 'NAME', text: ({ name }) => name },
  { name: 'E-MAIL', text: ({ email }) => email },
  { name: 'BALANCE', text: ({ balance }) => count(balance), isNumber: true },
  { name: 'STATE', text: ({ suspended }) => (suspended ? 'suspended' : '') },
  { name: 'SINCE (UTC)', text: ({ createdAt }) => time(createdAt) },
];

interface ListFlags {
  search?: string;
  limit?: string;
}

const listOptions = [
  ['--search <text>', 'only those whose name, address or id holds this'],
  limitOption,
] as const;

const { createUser, getUser, grantCredits, listUsers, suspendUser } = OperatorService.method;

/** Adds `users`, `user` and `credit`. */
export function addUserCommands(program: Command): void {
  addCommand<ListFlags>(program, {
    usage: 'users',
    about: 'list users, as an operator, newest first',
    options: listOptions,
    run: listAll,
  });
  const user = program.command('user').description('users, as an operator');
  addCommand<{ email?: string }>(user, {
    usage: 'create <name>',
    about: 'make a user, without credits or keys, and print the id',
    options: [['--email <address>', 'address for messages']],
    async run(session, { email = '' }, name: string) {
      const made = await session.operator().call(createUser, { name, email }, { signal: session.signal });
      await session.show(AccountSchema, made.user!, () => `${made.user!.id}\n`);
    },
  });
  addCommand<ListFlags>(user, {
    usage: 'list',
    about: 'list users, newest first',
    options: listOptions,
    run: listAll,
  });
  addCommand(user, {
    usage: 'show <user-id>',
    about: 'show one user',
    async run(session, _options, userId: string) {
      const found = await session.operator().call(getUser, { userId }, { signal: session.signal });
      await session.show(AccountSchema, found.user!, () => accountWords(found.user!));
    },
  });
  for (const [name, about, suspended] of [
    ['suspend', "refuse a user's keys from now on; work under way goes on", true],
    ['resume', 'let a user in again', false],
  ] as const)
    addCommand(user, {
      usage: `${name} <user-id>`,
      about,
      async run(session, _options, userId: string) {
        const request = { userId, suspended };
        const changed = await session.operator().call(suspendUser, request, { signal: session.signal });
        await session.show(AccountSchema, changed.user!, () => accountWords(changed.user!));
      },
    });
  addCommand<{ note?: string }>(program, {
    usage: 'credit <user-id> <amount>',
    about: 'add credits to a user, as an operator; a negative amount (after --) takes back',
    options: [['--note <text>', 'why: kept in the ledger']],
    async run(session, { note = '' }, userId: string, amount: string) {
      const request = { userId, amount: BigInt(integer('amount', amount, 0, Number.MIN_SAFE_INTEGER)), note };
      const granted = await session.operator().call(grantCredits, request, { signal: session.signal });
      await session.show(GrantCreditsResponseSchema, granted, () => `${count(granted.balance)}\n`);
    },
  });
}

async function listAll(session: Session, { search = '', limit }: ListFlags): Promise<void> {
  const most = integer('--limit', limit, 50);
  const pages = session
    .operator()
    .pages(listUsers, { search, pageSize: pageSize(most) }, { signal: session.signal });
  await session.list(
    AccountSchema,
    await take(pages, (page) => page.users, most),
    columns,
    'There are no such users.',
  );
}
