import type { Command } from 'commander';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { addCommand, outputOption } from './command.ts';
import { UsageError } from './exit.ts';
import { addStream, exportFormat } from './resource.ts';
import { findJobId, writeStream } from './session.ts';

/** Formats of tables of records, with the extension of their files. */
export const tableExtensions = {
  json: '.json',
  jsonl: '.jsonl',
  csv: '.csv',
  'csv-bom': '.csv',
  parquet: '.parquet',
} as const;

export type TableFormat = keyof typeof tableExtensions;

/** Options that select records and write them as a table. */
export interface TableFlags {
  format?: string;
  filter?: string[];
  search?: string;
  sort?: string;
  only?: string;
  columns?: string;
}

/** Declarations of TableFlags. */
export const tableOptions = [
  ['--format <format>', `write the records as a table: ${Object.keys(tableExtensions).join(', ')}`],
  [
    '--filter <condition...>',
    "write only records with this value: 'item.price<10', " +
      "'item.title~lamp' (=, !=, <, <=, >, >=, ~; repeatable)",
  ],
  ['--search <text>', 'write only records with this text in a column'],
  ['--sort <column>', 'sort the records by a column; -<column> in descending order'],
  ['--only <changed>', 'write only what is new or changed since the last run of a tracked job'],
  ['--columns <standard>', 'write the columns that all kinds and marketplaces have in common'],
] as const;

/** Selection of records and columns, as the service reads it. */
type TableSelection = Required<Omit<TableFlags, 'format'>> & { format: TableFormat | '' };

/** Adds `job results` and `job failures`. */
export function addResultCommands(job: Command): void {
  const { exportRecords, streamFailures, streamResults } = JobService.method;
  addCommand<TableFlags & { output?: string; provenance?: true }>(job, {
    usage: 'results <job>',
    about: 'Print the results of a job so far as JSON Lines, or its records as a table',
    options: [
      outputOption,
      ['--provenance', 'add the pages that each result was read from'],
      ...tableOptions,
    ],
    as: 'either',
    async run(session, { output, provenance = false, ...flags }, reference: string) {
      const { format, ...selection } = tableOf(flags, session.isJson);
      if (format === 'parquet' && output === undefined)
        throw new UsageError('--format parquet writes a binary file: add --output <file>');
      const { client } = session;
      const jobId = await findJobId(session, reference);
      const isTable = format !== '' || selection.only !== '';
      if (isTable && provenance)
        throw new UsageError('--provenance cannot be combined with the options of a table');
      const stream =
        isTable || provenance
          ? client.stream(exportRecords, {
              jobId,
              format,
              provenance,
              ...selection,
            })
          : client.stream(streamResults, { jobId });
      await writeStream(session, await stream, output);
    },
  });
  addStream(job, {
    usage: 'failures <job>',
    about: 'Print the failed units of a job with reasons and refunds as JSON Lines, or as CSV',
    options: [['--format <format>', 'jsonl or csv (default: jsonl)']],
    method: streamFailures,
    request: ({ format }, session) => ({ format: exportFormat('--format', session, format) }),
  });
}

/**
 * Parses TableFlags. Conditions and an order need a table, by default of JSON Lines. Throws a
 * UsageError.
 */
export function tableOf(
  { format, filter = [], search = '', sort = '', only = '', columns = '' }: TableFlags,
  isJson: boolean,
): TableSelection {
  if (format !== undefined && !Object.hasOwn(tableExtensions, format))
    throw new UsageError(
      `--format: "${format}" is not one of ${Object.keys(tableExtensions).join(', ')}`,
    );
  if (isJson && format !== undefined && !format.startsWith('json'))
    throw new UsageError(`--json cannot be combined with the format ${format}`);
  if (only !== '' && only !== 'changed')
    throw new UsageError(`--only takes changed, not "${only}"`);
  if (columns !== '' && columns !== 'standard')
    throw new UsageError(`--columns takes standard, not "${columns}"`);
  const isSelection = filter.length > 0 || search !== '' || sort !== '' || columns !== '';
  const chosen = (format ?? (isSelection ? 'jsonl' : '')) as TableFormat | '';
  return {
    format: chosen,
    filter,
    search,
    sort,
    only,
    columns,
  };
}
