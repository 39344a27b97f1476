import type { Command } from 'commander';
import { type Job, JobSchema, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import type { JsonObject } from '../../base/json.ts';
import { hasUnitRecords, type JobType } from '../../contract/job-types.ts';
import { messageWriter } from '../../contract/json/message-writer.ts';
import { addCommand } from './command.ts';
import { saveFiles } from './download.ts';
import { UsageError } from './exit.ts';
import { counted, jsonLine } from './print.ts';
import { codeOfJobs, waitForJobs } from './progress.ts';
import type { CommandSession } from './session.ts';
import { jobTypeAt, jobTypeNamed } from './submit/job-types.ts';
import {
  dryRunFlag,
  type OptionFlags,
  optionFlags,
  optionsOf,
  showQuote,
} from './submit/options.ts';
import { prepareFrom, requireReadable, withLines } from './submit/request.ts';
import { formats } from './submit/rows.ts';

interface SubmitFlags extends OptionFlags {
  format?: string;
  set?: string[];
  idempotencyKey?: string;
  dryRun?: true;
  wait?: true;
  download?: string | undefined;
  record?: true | undefined;
}

export function addSubmitCommand(job: Command): void {
  addCommand<SubmitFlags>(job, {
    usage: 'submit <market> [kind] [file]',
    about: 'Submit a job from CSV, JSON, JSON Lines, or a list of URLs (- for standard input)',
    options: [
      ['--set <name=value...>', 'set a field of the request, or of a single unit (repeatable)'],
      ['--format <format>', `format of the file: ${formats.join(', ')}`],
      dryRunFlag,
      ...optionFlags,
      [
        '--idempotency-key <key>',
        'repeated submits with this key create one job (default: a new key)',
      ],
      ['--wait', 'wait until the job ends'],
      [
        '--record',
        'wait, and print the record of a job with one unit instead of the id of the job',
      ],
      ['--download <folder>', 'wait, and download the result files to this folder'],
    ],
    async run(
      session,
      options,
      market: string,
      kind: string | undefined,
      file: string | undefined,
    ) {
      // With a REST path instead of market and kind, the second argument is the file.
      const isPath = market.startsWith('/');
      const jobType = isPath ? jobTypeAt(market) : jobTypeNamed(market, kind);
      return submit(session, options, jobType, isPath ? kind : file);
    },
  });
}

async function submit(
  session: CommandSession,
  { format, set = [], idempotencyKey, dryRun, wait, download, record, ...flags }: SubmitFlags,
  jobType: JobType,
  file: string | undefined,
): Promise<number | undefined> {
  const { client, io, isJson } = session;
  const options = optionsOf(flags);
  const prepared = await prepareFrom(io, jobType, { file, format, set });
  requireReadable(session, prepared);
  if (record) requireOneRecord(jobType, prepared.total ?? 1);
  const failed = (error: unknown): never => {
    throw withLines(error, prepared);
  };
  if (dryRun) {
    const quote = client.quote(jobType.method, prepared.request, options);
    return showQuote(session, await quote.catch(failed));
  }
  const submitOptions = idempotencyKey === undefined ? options : { ...options, idempotencyKey };
  const { jobId, response } = await client
    .submit(jobType.method, prepared.request, submitOptions)
    .catch(failed);
  const output: JsonObject = {
    job_id: jobId,
    ...(JSON.parse(messageWriter(jobType.method.output)(response)) as JsonObject),
  };
  if (!isJson) session.note(submittedText(output, prepared.total));
  if (!record) await session.write(`${isJson ? JSON.stringify(output) : jobId}\n`);
  if (!wait && !record && download === undefined) return undefined;
  return waitForResults(session, jobId, { download, record });
}

/** Waits for a job, then saves and prints what the flags request. Returns the exit code. */
async function waitForResults(
  session: CommandSession,
  jobId: string,
  { download, record }: Pick<SubmitFlags, 'download' | 'record'>,
): Promise<number | undefined> {
  const jobs = await waitForJobs(session, [jobId]);
  if (download !== undefined && jobs.every((job) => job.ended))
    await saveFiles(session, jobs, download);
  if (record) {
    await printRecord(session, jobId);
  } else if (session.isJson) {
    for (const job of jobs) await session.write(jsonLine(JobSchema, job as Job));
  }
  return codeOfJobs(jobs);
}

/** Throws a UsageError if a job does not result in one record that can be printed. */
function requireOneRecord(jobType: JobType, units: number): void {
  if (units > 1) throw new UsageError(`--record prints one record, and the job has ${units} units`);
  if (!hasUnitRecords(jobType.method))
    throw new UsageError(
      `--record: the results of ${jobType.kind} are files. Use --download <folder>.`,
    );
}

/** Describes a submitted job: "12 units submitted for 60 credits: processing". */
function submittedText(output: JsonObject, total: number | undefined): string {
  const units = output.total_items ?? output.total_urls ?? output.total ?? total ?? 1;
  const credits = counted(Number(output.cost ?? 0), 'credit');
  return `${counted(Number(units), 'unit')} submitted for ${credits}: ${output.status}`;
}

/** Prints the record of a job with one unit, or says why it failed. */
async function printRecord({ client, note, write }: CommandSession, jobId: string): Promise<void> {
  const { records } = await client.call(JobService.method.listRecords, { jobId, pageSize: 1 });
  for (const { record, code, message } of records) {
    if (record === undefined) note(`The unit failed: ${message} (${code})`);
    else await write(`${record}\n`);
  }
}
