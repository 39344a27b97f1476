import type { Command } from 'commander';
import {
  type AuditEntry,
  AuditEntrySchema,
  OperatorService,
} from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { addCommand, integer, limitOption, pageSize, take } from './command.ts';
import { type Column, time } from './print.ts';

const columns: Column<AuditEntry>[] = [
  { name: 'TIME', text: ({ createdAt }) => time(createdAt) },
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
  limit?: string;
}

/** Adds `audit-log`. */
export function addAuditLogCommand(program: Command): void {
  addCommand<AuditLogFlags>(program, {
    usage: 'audit-log',
    about: 'List the actions of operators and users, newest first (operators)',
    options: [
      ['--by <id>', 'actions of one operator or user'],
      ['--target <id>', 'actions on one job, user, or key'],
      limitOption,
    ],
    async run(session, { by = '', target = '', limit }) {
      const max = integer('--limit', limit, 50);
      const request = { actorId: by, target, pageSize: pageSize(max) };
      const { listAuditEntries } = OperatorService.method;
      const pages = session.operator().pages(listAuditEntries, request, { signal: session.signal });
      const entries = await take(pages, (page) => page.entries, max);
      await session.list(AuditEntrySchema, entries, columns, 'No matching actions.');
    },
  });
}
