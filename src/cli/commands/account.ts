import type { Command } from 'commander';
import {
  type Account,
  AccountSchema,
  AccountService,
  type LedgerEntry,
  type UsageDay,
} from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { addCommand, integer } from './command.ts';
import { count, counted, type Display, type PrintedColumn } from './print.ts';
import { addList, addStream } from './resource.ts';

const ledgerColumns: PrintedColumn<LedgerEntry>[] = [
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

const usageColumns: PrintedColumn<UsageDay>[] = [
  { name: 'DAY (UTC)', text: ({ day }) => day },
  { name: 'JOBS', text: ({ jobs }) => count(jobs), isNumber: true },
  { name: 'CHARGED', text: ({ charged }) => count(charged), isNumber: true },
  { name: 'REFUNDED', text: ({ refunded }) => count(refunded), isNumber: true },
  { name: 'GRANTED', text: ({ granted }) => count(granted), isNumber: true },
];

/** Returns the state of an account: "deleted", "suspended", or "active". */
export const accountStatus = ({ suspended, deletedAt }: Account): string => {
  if (deletedAt !== undefined) return 'deleted';
  return suspended ? 'suspended' : 'active';
};

/** Formats an account as names and values, followed by others. */
export function accountWords(
  account: Account,
  display: Display,
  counts: [string, string][] = [],
): string {
  const { id, name, email, balance, createdAt } = account;
  return display.pairs([
    ['user', id],
    ['name', name],
    ['mode', account.mode === 'test' ? `test account of ${account.liveAccountId}` : ''],
    ['email', email],
    ['balance', counted(balance, 'credit')],
    ['status', accountStatus(account)],
    ['created', display.time(createdAt)],
    ...counts,
  ]);
}

/** Adds `account` and `ledger`. */
export function addAccountCommands(program: Command): void {
  const { method } = AccountService;
  const account = program
    .command('account')
    .description('See your account, its credits, and their use');
  addCommand(account, {
    usage: 'show',
    about: 'Show your account, its balance, and where your key is from',
    async run({ client, keySource, show }) {
      const { account } = await client.call(method.getAccount, {});
      await show(AccountSchema, account!, (display) =>
        accountWords(account!, display, [['key', `of ${keySource}`]]),
      );
    },
  });
  addList(account, {
    usage: 'usage',
    about: 'Show credits by day',
    options: [['--days <n>', 'number of days up to today (default: 30)']],
    method: method.getUsage,
    columns: usageColumns,
    none: 'No usage.',
    request: ({ days }) => ({ days: integer('--days', days, 30, 1) }),
  });
  addStream(account, {
    usage: 'export',
    about: 'Print everything that is stored of your account as JSON Lines',
    method: method.exportAccount,
  });
  addList(program.command('ledger').description('See charges, refunds, and grants of credits'), {
    usage: 'list',
    about: 'List charges, refunds, and grants, newest first',
    method: method.listLedgerEntries,
    operatorMethod: OperatorService.method.listLedgerEntries,
    exportMethod: method.exportLedger,
    columns: ledgerColumns,
    ownerColumn: { name: 'USER', text: ({ userId }) => userId },
    none: 'No ledger entries.',
  });
}
