import type { Command } from 'commander';
import type { Account } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { accountStatus, accountWords } from './account.ts';
import { integer } from './command.ts';
import { UsageError } from './exit.ts';
import { count, type Display, type PrintedColumn } from './print.ts';
import { addList, addShow, addStream } from './resource.ts';

const columns: PrintedColumn<Account>[] = [
  { name: 'USER', text: ({ id }) => id },
  { name: 'NAME', text: ({ name }) => name },
  { name: 'EMAIL', text: ({ email }) => email },
  { name: 'BALANCE', text: ({ balance }) => count(balance), isNumber: true },
  { name: 'STATUS', text: accountStatus },
  { name: 'CREATED', text: ({ createdAt }, { time }) => time(createdAt) },
];

const words = (user: Account, display: Display) => accountWords(user, display);

export function addUserCommands(program: Command): void {
  const { method } = OperatorService;
  const user = program.command('user').description('Manage users');
  addList(user, {
    usage: 'list',
    about: 'List users, newest first',
    options: [['--search <text>', 'filter by name, email address, or id']],
    method: method.listUsers,
    columns,
    none: 'No matching users.',
  });
  addShow(user, {
    usage: 'show <user-id>',
    about: 'Show a user',
    method: method.getUser,
    words,
  });
  addShow(user, {
    usage: 'create <name>',
    about: 'Create a user without credits or keys and print the id',
    options: [['--email <address>', 'email address for notifications']],
    method: method.createUser,
    words: ({ id }) => `${id}\n`,
  });
  addShow(user, {
    usage: 'credit <user-id> <amount>',
    about: 'Add credits to a user; a negative amount (after --) removes them',
    options: [['--note <text>', 'note for the ledger entry']],
    method: method.grantCredits,
    acceptsKey: true,
    words: ({ balance }) => `${count(balance)}\n`,
    request: (_flags, _session, _userId, amount) => ({
      amount: BigInt(integer('amount', amount, 0, Number.MIN_SAFE_INTEGER)),
    }),
  });
  for (const [name, about, suspended] of [
    ['suspend', 'Suspend the keys of users; running jobs continue', true],
    ['resume', 'Resume the keys of users', false],
  ] as const)
    addShow(user, {
      usage: `${name} <user-id...>`,
      about,
      method: method.suspendUser,
      words,
      request: () => ({ suspended }),
    });
  addShow(user, {
    usage: 'delete <user-id...>',
    about: 'Delete users with all jobs and files; the ledger remains without names',
    options: [['--yes', 'delete them; without it, the command only names the user']],
    method: method.deleteUser,
    words,
    request: async ({ yes }, { client }, userId) => {
      if (yes) return {};
      const { user: found } = await client.call(method.getUser, { userId });
      throw new UsageError(
        `This deletes ${found!.name} with all jobs and files, ` +
          'and cannot be undone. To delete, add --yes.',
      );
    },
  });
  addStream(user, {
    usage: 'export <user-id>',
    about: 'Print everything that is stored of a user as JSON Lines',
    method: method.exportUser,
  });
}
