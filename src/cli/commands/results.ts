import { createWriteStream } from 'node:fs';
import { rename } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Command } from 'commander';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import {
  type ExportAuditLogRequestSchema,
  OperatorService,
} from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import type { ByteStream } from '../../client/index.ts';
import { addCommand } from './command.ts';
import { UsageError } from './exit.ts';
import { checkId, jobsOf, operatorOption } from './jobs-source.ts';
import type { Session } from './session.ts';

/** Formats of tables of records, with the extension of their files. */
export const tableExtensions = {
  json: '.json',
  jsonl: '.jsonl',
  csv: '.csv',
  'csv-bom': '.csv',
  parquet: '.parquet',
} as const;

/** Format of a table of records. */
export type TableFormat = keyof typeof tableExtensions;

/** The --format option of tables of records. */
export const tableOption = [
  '--format <format>',
  `write the records as a table: ${Object.keys(tableExtensions).join(', ')}`,
] as const;

/** The --only option of tables of records. */
export const onlyOption = [
  '--only <changed>',
  'write only what is new or changed since the last run of a tracked job',
] as const;

const outOption = ['-o, --output <file>', 'write to a file instead of standard output'] as const;

/** Adds `results` and `failures`. */
export function addResultCommands(program: Command): void {
  addCommand<{ output?: string; format?: string; only?: string; operator?: true }>(program, {
    usage: 'results <job>',
    about: 'Print the results of a job so far as JSON Lines, or its records as a table',
    options: [outOption, tableOption, onlyOption, operatorOption],
    async run(session, { output, format, only, operator }, id: string) {
      checkOnly(only);
      const table = format === undefined ? undefined : tableFormat(format, session);
      if (table === 'parquet' && output === undefined)
        throw new UsageError('--format parquet writes a binary file: add --output <file>');
      const jobs = jobsOf(session, operator === true);
      const { jobId } = await jobs.find(id);
      const stream = jobs.results(jobId, { format: table ?? '', only: only ?? '' });
      await writeStream(session, await stream, output);
    },
  });
  addCommand<{ output?: string; format?: string }>(program, {
    usage: 'failures <job>',
    about: 'Print the failed units of a job with reasons and refunds',
    options: [outOption, ['--format <format>', 'jsonl or csv (default: jsonl)']],
    async run(session, { output, format }, id: string) {
      const client = session.user();
      const { jobId } = await client.find(checkId(id), { signal: session.signal });
      const request = { jobId, format: formatOf(format, session) };
      const stream = client.stream(JobService.method.streamFailures, request, { signal: session.signal });
      await writeStream(session, await stream, output);
    },
  });
}

/** Selects entries of the audit log. */
export type AuditFilter = Pick<
  MessageInitShape<typeof ExportAuditLogRequestSchema>,
  'actorId' | 'target' | 'action' | 'outcome' | 'since' | 'until'
>;

/** Prints the whole ledger. */
export async function exportLedger(
  session: Session,
  format: string,
  output: string | undefined,
): Promise<void> {
  const request = { format: formatOf(format, session) };
  const { exportLedger: method } = AccountService.method;
  await writeStream(
    session,
    await session.user().stream(method, request, { signal: session.signal }),
    output,
  );
}

/** Prints the matching entries of the audit log. */
export async function exportAuditLog(
  session: Session,
  format: string,
  filter: AuditFilter,
  output: string | undefined,
): Promise<void> {
  const request = { ...filter, format: formatOf(format, session) };
  const { exportAuditLog: method } = OperatorService.method;
  const stream = session.operator().stream(method, request, { signal: session.signal });
  await writeStream(session, await stream, output);
}

function formatOf(format: string | undefined, { isJson }: Session): string {
  if (format !== undefined && format !== 'csv' && format !== 'jsonl')
    throw new UsageError(`--format: "${format}" is not csv or jsonl`);
  if (isJson && format === 'csv') throw new UsageError('--json cannot be combined with the format csv');
  return format ?? 'jsonl';
}

/** Parses the --format option of tables. Throws a UsageError for an unknown format. */
export function tableFormat(format: string, { isJson }: Pick<Session, 'isJson'>): TableFormat {
  if (!Object.hasOwn(tableExtensions, format))
    throw new UsageError(`--format: "${format}" is not one of ${Object.keys(tableExtensions).join(', ')}`);
  if (isJson && !format.startsWith('json'))
    throw new UsageError(`--json cannot be combined with the format ${format}`);
  return format as TableFormat;
}

/** Checks the --only option. Throws a UsageError for another value. */
export function checkOnly(only: string | undefined): void {
  if (only !== undefined && only !== 'changed') throw new UsageError(`--only: "${only}" is not changed`);
}

/** Writes a stream. A file gets its final name when it is complete. */
export async function writeStream(
  session: Session,
  stream: ByteStream,
  output: string | undefined,
): Promise<void> {
  if (output === undefined || output === '-') {
    for await (const chunk of stream) await session.write(chunk);
    return;
  }
  const path = session.io.path(output);
  const part = `${path}.part`;
  await pipeline(Readable.from(stream, { objectMode: false }), createWriteStream(part), {
    signal: session.signal,
  });
  await rename(part, path);
}
