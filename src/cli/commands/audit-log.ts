import type { Command } from 'commander';
import { type AuditEntry, OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { faultCodes } from '../../contract/fault.ts';
import { services } from '../../contract/services.ts';
import { didYouMean } from '../../contract/suggest.ts';
import { timeOf } from './command.ts';
import { UsageError } from './exit.ts';
import type { PrintedColumn } from './print.ts';
import { addList } from './resource.ts';

const columns: PrintedColumn<AuditEntry>[] = [
  { name: 'TIME', text: ({ createdAt }, { time }) => time(createdAt) },
  { name: 'WHO', text: ({ actorName, actorId }) => actorName || actorId },
  { name: 'ROLE', text: ({ role }) => role },
  { name: 'ACTION', text: ({ action }) => action },
  { name: 'TARGET', text: ({ target }) => target },
  { name: 'REQUEST', text: requestText },
  { name: 'OUTCOME', text: ({ outcome }) => outcome },
  { name: 'FROM', text: ({ source }) => source },
];

/** Maximum characters of a request in the table. */
const maxRequestText = 60;

/** Returns the request of an entry, without the id that it begins with. */
function requestText({ detail }: AuditEntry): string {
  const text = detail.replace(/^\{("\w+_id":"[^"]*",?)?|\}$/g, '');
  if (text.length > maxRequestText) return `${text.slice(0, maxRequestText - 1)}…`;
  return text;
}

/** Throws a UsageError for a name that is close to one that entries have. */
function checkName(option: string, name: string | undefined, names: readonly string[]): void {
  if (name === undefined || names.includes(name)) return;
  const hint = didYouMean(name, names);
  if (hint !== '') throw new UsageError(`${option}: no action has "${name}".${hint}`);
}

const methodNames = services.flatMap(({ methods }) => methods.map(({ name }) => name));
const outcomes = ['ok', ...Object.keys(faultCodes)];

export function addAuditLogCommand(program: Command): void {
  const { exportAuditLog, listAuditEntries } = OperatorService.method;
  addList(program.command('audit-log').description('See the actions of operators and users'), {
    usage: 'list',
    about: 'List the actions of operators and users, newest first',
    options: [
      ['--by <id>', 'actions of one operator or user, by id or name'],
      ['--target <id>', 'actions on one job, user, or key'],
      ['--action <name>', 'calls of one method, such as ApproveJob'],
      ['--outcome <code>', 'actions with one outcome: ok, or an error code such as forbidden'],
      ['--since <date>', 'actions at this time or later, such as 2030-01-31'],
      ['--until <date>', 'actions before this time'],
    ],
    method: listAuditEntries,
    exportMethod: exportAuditLog,
    columns,
    none: 'No matching actions.',
    request({ by = '', since, until, action, outcome }) {
      checkName('--action', action, methodNames);
      checkName('--outcome', outcome, outcomes);
      return {
        actorId: by,
        ...(since === undefined
          ? {}
          : { since: timeOf('--since', since, 'a date such as 2030-01-31') }),
        ...(until === undefined
          ? {}
          : { until: timeOf('--until', until, 'a date such as 2030-01-31') }),
      };
    },
  });
}
