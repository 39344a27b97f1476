import type { Command } from 'commander';
import { type Account, AccountSchema } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { GrantCreditsResponseSchema, OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { accountStatus, accountWords } from './account.ts';
import { addCommand, integer, limitOption, pageSize, take } from './command.ts';
import { type Column, count } from './print.ts';
import { writeStream } from './results.ts';
import type { Session } from './session.ts';

const columns: Column<Account>[] = [
  { name: 'USER', text: ({ id }) => id },
  { name: 'NAME', text: ({ name }) => name },
  { name: 'E-MAIL', text: ({ email }) => email },
  { name: 'BALANCE', text: ({ balance }) => count(balance), isNumber: true },
  { name: 'STATUS', text: accountStatus },
  { name: 'CREATED', text: ({ createdAt }, { time }) => time(createdAt) },
];

interface ListFlags {
  search?: string;
  limit?: string;
}

const listOptions = [['--search <text>', 'filter by name, e-mail address, or id'], limitOption] as const;

const { createUser, deleteUser, exportUser, getUser, grantCredits, listUsers, suspendUser } =
  OperatorService.method;

/** Adds `users`, `user`, and `credit`. */
export function addUserCommands(program: Command): void {
  addCommand<ListFlags>(program, {
    usage: 'users',
    about: 'List users, newest first',
    options: listOptions,
    run: listAll,
  });
  const user = program.command('user').description('Manage users (operators)');
  addCommand<{ email?: string }>(user, {
    usage: 'create <name>',
    about: 'Create a user without credits or keys and print the id',
    options: [['--email <address>', 'e-mail address for notifications']],
    async run(session, { email = '' }, name: string) {
      const created = await session.operator().call(createUser, { name, email }, { signal: session.signal });
      await session.show(AccountSchema, created.user!, () => `${created.user!.id}\n`);
    },
  });
  addCommand<ListFlags>(user, {
    usage: 'list',
    about: 'List users, newest first',
    options: listOptions,
    run: listAll,
  });
  addCommand(user, {
    usage: 'show <user-id>',
    about: 'Show a user',
    async run(session, _options, userId: string) {
      const found = await session.operator().call(getUser, { userId }, { signal: session.signal });
      await session.show(AccountSchema, found.user!, accountWords(found.user!));
    },
  });
  for (const [name, about, suspended] of [
    ['suspend', "Suspend a user's keys; running jobs continue", true],
    ['resume', "Resume a user's keys", false],
  ] as const)
    addCommand(user, {
      usage: `${name} <user-id>`,
      about,
      async run(session, _options, userId: string) {
        const request = { userId, suspended };
        const changed = await session.operator().call(suspendUser, request, { signal: session.signal });
        await session.show(AccountSchema, changed.user!, accountWords(changed.user!));
      },
    });
  addCommand(user, {
    usage: 'delete <user-id>',
    about: 'Delete a user with all jobs and files; the ledger remains without names',
    async run(session, _options, userId: string) {
      const changed = await session.operator().call(deleteUser, { userId }, { signal: session.signal });
      await session.show(AccountSchema, changed.user!, accountWords(changed.user!));
    },
  });
  addCommand<{ output?: string }>(user, {
    usage: 'export <user-id>',
    about: 'Print everything that is stored of a user as JSON Lines',
    options: [['-o, --output <file>', 'write the export to a file']],
    async run(session, { output }, userId: string) {
      const options = { signal: session.signal };
      await writeStream(session, await session.operator().stream(exportUser, { userId }, options), output);
    },
  });
  addCommand<{ note?: string }>(program, {
    usage: 'credit <user-id> <amount>',
    about: 'Add credits to a user; a negative amount (after --) removes them (operators)',
    options: [['--note <text>', 'note for the ledger entry']],
    async run(session, { note = '' }, userId: string, amount: string) {
      const request = { userId, amount: BigInt(integer('amount', amount, 0, Number.MIN_SAFE_INTEGER)), note };
      const granted = await session.operator().call(grantCredits, request, { signal: session.signal });
      await session.show(GrantCreditsResponseSchema, granted, () => `${count(granted.balance)}\n`);
    },
  });
}

async function listAll(session: Session, { search = '', limit }: ListFlags): Promise<void> {
  const max = integer('--limit', limit, 50);
  const pages = session
    .operator()
    .pages(listUsers, { search, pageSize: pageSize(max) }, { signal: session.signal });
  await session.list(
    AccountSchema,
    await take(pages, (page) => page.users, max),
    columns,
    'No matching users.',
  );
}
