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
import { type Column, count, type Display } from './print.ts';
import { exportLedger, writeStream } from './results.ts';

const ledgerColumns: Column<LedgerEntry>[] = [
  { name: 'TIME', text: ({ createdAt }, { time }) => time(createdAt) },
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
  { name: 'REFUNDED', text: ({ refunded }) => count(refunded), isNumber: true },
  { name: 'GRANTED', text: ({ granted }) => count(granted), isNumber: true },
];

/** Returns what is unusual about an account: "deleted", "suspended", or nothing. */
export const accountStatus = ({ suspended, deletedAt }: Account): string => {
  if (deletedAt !== undefined) return 'deleted';
  return suspended ? 'suspended' : '';
};

/** Returns the function that formats an account as names and values. */
export const accountWords = (account: Account) => (display: Display) => {
  const { id, name, email, balance, createdAt } = account;
  return display.pairs([
    ['user', id],
    ['name', name],
    ['mode', account.mode === 'test' ? `test account of ${account.liveAccountId}` : ''],
    ['e-mail', email],
    ['balance', `${count(balance)} credits`],
    ['status', accountStatus(account)],
    ['created', display.time(createdAt)],
  ]);
};

interface LedgerFlags {
  limit?: string;
  export?: string;
  output?: string;
  all?: true;
  user?: string;
}

/** Adds `balance`, `account`, `ledger`, and `usage`. */
export function addAccountCommands(program: Command): void {
  const { exportAccount, getAccount, listLedgerEntries, getUsage } = AccountService.method;
  addCommand(program, {
    usage: 'balance',
    about: 'Show your credit balance',
    async run(session) {
      const { account } = await session.user().call(getAccount, {}, { signal: session.signal });
      const { balance } = account!;
      await session.write(
        session.isJson ? `${JSON.stringify({ balance: Number(balance) })}\n` : `${count(balance)}\n`,
      );
    },
  });
  addCommand<{ export?: true; output?: string }>(program, {
    usage: 'account',
    about: 'Show your account',
    options: [
      ['--export', 'print everything that is stored of your account as JSON Lines'],
      ['-o, --output <file>', 'write the export to a file'],
    ],
    async run(session, { export: isExport, output }) {
      const options = { signal: session.signal };
      if (isExport)
        return writeStream(session, await session.user().stream(exportAccount, {}, options), output);
      const { account } = await session.user().call(getAccount, {}, { signal: session.signal });
      await session.show(AccountSchema, account!, accountWords(account!));
    },
  });
  addCommand<LedgerFlags>(program, {
    usage: 'ledger',
    about: 'List charges, refunds, and grants, newest first',
    options: [
      limitOption,
      ['--export <format>', 'export the whole ledger: csv or jsonl'],
      ['-o, --output <file>', 'write the export to a file'],
      ['--all', 'entries of all users (operators)'],
      ['--user <user-id>', 'entries of one user (operators)'],
    ],
    async run(session, { limit, export: format, output, all, user }) {
      if (format !== undefined) return exportLedger(session, format, output);
      const max = integer('--limit', limit, 50);
      const options = { signal: session.signal };
      const isOperator = all === true || user !== undefined || session.isOperatorOnly;
      const pages = isOperator
        ? session
            .operator()
            .pages(
              OperatorService.method.listLedgerEntries,
              { userId: user ?? '', pageSize: pageSize(max) },
              options,
            )
        : session.user().pages(listLedgerEntries, { pageSize: pageSize(max) }, options);
      const entries = await take<{ entries: LedgerEntry[] }, LedgerEntry>(pages, (page) => page.entries, max);
      const owner: Column<LedgerEntry> = { name: 'USER', text: ({ userId }) => userId };
      await session.list(
        LedgerEntrySchema,
        entries,
        isOperator ? [...ledgerColumns, owner] : ledgerColumns,
        'No ledger entries.',
      );
    },
  });
  addCommand<{ days?: string }>(program, {
    usage: 'usage',
    about: 'Show credits by day',
    options: [['--days <n>', 'number of days up to today (default: 30)']],
    async run(session, { days }) {
      const request = { days: integer('--days', days, 30, 1) };
      const usage = await session.user().call(getUsage, request, { signal: session.signal });
      await session.list(UsageDaySchema, usage.days, usageColumns, 'No usage.');
    },
  });
}
