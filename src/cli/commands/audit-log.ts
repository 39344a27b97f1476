import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Command } from 'commander';
import {
  type AuditEntry,
  AuditEntrySchema,
  OperatorService,
} from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { addCommand, integer, limitOption, pageSize, take } from './command.ts';
import { UsageError } from './exit.ts';
import type { Column } from './print.ts';
import { type AuditFilter, exportAuditLog } from './results.ts';

const columns: Column<AuditEntry>[] = [
  { name: 'TIME', text: ({ createdAt }, { time }) => time(createdAt) },
  { name: 'WHO', text: ({ actorName, actorId }) => actorName || actorId },
  { name: 'ROLE', text: ({ role }) => role },
  { name: 'ACTION', text: ({ action }) => action },
  { name: 'TARGET', text: ({ target }) => target },
  { name: 'OUTCOME', text: ({ outcome }) => outcome },
  { name: 'FROM', text: ({ source }) => source },
];

interface AuditLogFlags {
  by?: string;
  target?: string;
  action?: string;
  outcome?: string;
  since?: string;
  until?: string;
  limit?: string;
  export?: string;
  output?: string;
}

/** Adds `audit-log`. */
export function addAuditLogCommand(program: Command): void {
  addCommand<AuditLogFlags>(program, {
    usage: 'audit-log',
    about: 'List the actions of operators and users, newest first (operators)',
    options: [
      ['--by <id>', 'actions of one operator or user'],
      ['--target <id>', 'actions on one job, user, or key'],
      ['--action <name>', 'calls of one method, such as ApproveJob'],
      ['--outcome <code>', 'actions with one outcome: ok, or an error code such as forbidden'],
      ['--since <date>', 'actions at this time or later, such as 2030-01-31'],
      ['--until <date>', 'actions before this time'],
      limitOption,
      ['--export <format>', 'export every matching entry: csv or jsonl'],
      ['-o, --output <file>', 'write the export to a file'],
    ],
    async run(session, { limit, export: format, output, ...flags }) {
      const filter = filterOf(flags);
      if (format !== undefined) return exportAuditLog(session, format, filter, output);
      const max = integer('--limit', limit, 50);
      const request = { ...filter, pageSize: pageSize(max) };
      const { listAuditEntries } = OperatorService.method;
      const pages = session.operator().pages(listAuditEntries, request, { signal: session.signal });
      const entries = await take(pages, (page) => page.entries, max);
      await session.list(AuditEntrySchema, entries, columns, 'No matching actions.');
    },
  });
}

function filterOf({
  by = '',
  target = '',
  action = '',
  outcome = '',
  since,
  until,
}: AuditLogFlags): AuditFilter {
  return {
    actorId: by,
    target,
    action,
    outcome,
    ...(since === undefined ? {} : { since: dateOf('--since', since) }),
    ...(until === undefined ? {} : { until: dateOf('--until', until) }),
  };
}

function dateOf(option: string, text: string) {
  const date = new Date(text);
  if (Number.isNaN(date.getTime()))
    throw new UsageError(`${option}: "${text}" is not a date such as 2030-01-31`);
  return timestampFromDate(date);
}
