import type { Command } from 'commander';
import {
  type Account,
  AccountSchema,
  AccountService,
  type LedgerEntry,
  LedgerEntrySchema,
  type UsageDay,
  UsageDaySchema,
} from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { addCommand, integer, limitOption, pageSize, take } from './command.ts';
import { type Column, count, pairs, time } from './print.ts';
import { exportLedger } from './results.ts';

const ledgerColumns: Column<LedgerEntry>[] = [
  { name: 'TIME (UTC)', text: ({ createdAt }) => time(createdAt) },
  {
    name: 'CREDITS',
    text: ({ amount }) => (amount > 0n ? `+${count(amount)}` : count(amount)),
    isNumber: true,
  },
  { name: 'TYPE', text: ({ type }) => type },
  { name: 'JOB', text: ({ jobId }) => jobId },
  { name: 'NOTE', text: ({ note }) => note },
];

const usageColumns: Column<UsageDay>[] = [
  { name: 'DAY (UTC)', text: ({ day }) => day },
  { name: 'JOBS', text: ({ jobs }) => count(jobs), isNumber: true },
  { name: 'CHARGED', text: ({ charged }) => count(charged), isNumber: true },
  { name: 'GIVEN BACK', text: ({ refunded }) => count(refunded), isNumber: true },
  { name: 'GRANTED', text: ({ granted }) => count(granted), isNumber: true },
];

/** An account in words. */
export const accountWords = ({ id, name, email, balance, suspended, createdAt }: Account): string =>
  pairs([
    ['user', id],
    ['name', name],
    ['e-mail', email],
    ['balance', `${count(balance)} credits`],
    ['state', suspended ? 'suspended' : ''],
    ['since', time(createdAt)],
  ]);

interface LedgerFlags {
  limit?: string;
  export?: string;
  output?: string;
  all?: true;
  user?: string;
}

/** Adds `balance`, `account`, `ledger` and `usage`. */
export function addAccountCommands(program: Command): void {
  const { getAccount, listLedgerEntries, getUsage } = AccountService.method;
  addCommand(program, {
    usage: 'balance',
    about: 'credits to spend',
    async run(session) {
      const { account } = await session.user().call(getAccount, {}, { signal: session.signal });
      const { balance } = account!;
      await session.write(
        session.isJson ? `${JSON.stringify({ balance: Number(balance) })}\n` : `${count(balance)}\n`,
      );
    },
  });
  addCommand(program, {
    usage: 'account',
    about: 'who the key belongs to, and the balance',
    async run(session) {
      const { account } = await session.user().call(getAccount, {}, { signal: session.signal });
      await session.show(AccountSchema, account!, () => accountWords(account!));
    },
  });
  addCommand<LedgerFlags>(program, {
    usage: 'ledger',
    about: 'list charges, refunds and grants, newest first',
    options: [
      limitOption,
      ['--export <format>', 'the whole ledger as csv or jsonl'],
      ['-o, --output <file>', 'write the export to a file'],
      ['--all', "everybody's, as an operator"],
      ['--user <user-id>', "a user's, as an operator"],
    ],
    async run(session, { limit, export: format, output, all, user }) {
      if (format !== undefined) return exportLedger(session, format, output);
      const most = integer('--limit', limit, 50);
      const options = { signal: session.signal };
      const isOperator = all === true || user !== undefined || session.isOperatorOnly;
      const pages = isOperator
        ? session
            .operator()
            .pages(
              OperatorService.method.listLedgerEntries,
              { userId: user ?? '', pageSize: pageSize(most) },
              options,
            )
        : session.user().pages(listLedgerEntries, { pageSize: pageSize(most) }, options);
      const entries = await take<{ entries: LedgerEntry[] }, LedgerEntry>(
        pages,
        (page) => page.entries,
        most,
      );
      const owner: Column<LedgerEntry> = { name: 'USER', text: ({ userId }) => userId };
      await session.list(
        LedgerEntrySchema,
        entries,
        isOperator ? [...ledgerColumns, owner] : ledgerColumns,
        'The ledger is empty.',
      );
    },
  });
  addCommand<{ days?: string }>(program, {
    usage: 'usage',
    about: 'credits by day',
    options: [['--days <n>', 'today and the days before (default: 30)']],
    async run(session, { days }) {
      const request = { days: integer('--days', days, 30, 1) };
      const usage = await session.user().call(getUsage, request, { signal: session.signal });
      await session.list(UsageDaySchema, usage.days, usageColumns, 'Nothing was used.');
    },
  });
}
