import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Command } from 'commander';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { addCommand } from './command.ts';
import { exitCodes, UsageError } from './exit.ts';
import { counted, plain } from './print.ts';
import { codeOfJobs, showProgress, waitForJobs } from './progress.ts';
import {
  type TableFlags,
  type TableFormat,
  tableExtensions,
  tableOf,
  tableOptions,
} from './results.ts';
import { type CommandSession, findJob, writeStream } from './session.ts';

export function addDownloadCommand(job: Command): void {
  addCommand<TableFlags & { dir?: string; wait?: true }>(job, {
    usage: 'download <job...>',
    about: 'Download the result files of jobs, resume interrupted downloads, and verify SHA-256',
    options: [
      ['--dir <folder>', 'destination (default: the current folder)'],
      ['--wait', 'wait until the jobs end'],
      ...tableOptions,
    ],
    async run(session, { dir = '.', wait, ...flags }, references: string[]) {
      const { format } = flags;
      // --json prints the saved files, whatever their format is.
      const table = tableOf(flags, false);
      if (format === undefined && (table.format || table.only))
        throw new UsageError(
          '--filter, --search, --sort, --only, and --columns make a table: add --format <format>',
        );
      let jobs = await Promise.all(references.map((text) => findJob(session, text)));
      if (wait)
        jobs = await waitForJobs(
          session,
          jobs.map(({ jobId }) => jobId),
        );
      const saved = format
        ? await saveTables(session, jobs, dir, { ...table, format: format as TableFormat })
        : await saveFiles(session, jobs, dir);
      if (wait) return codeOfJobs(jobs);
      return saved > 0 ? exitCodes.ok : exitCodes.notFound;
    },
  });
}

/**
 * Saves the selected records of each job as one table, and prints the paths. Returns the number of
 * tables.
 */
async function saveTables(
  session: CommandSession,
  jobs: readonly Job[],
  dir: string,
  selection: ReturnType<typeof tableOf> & { format: TableFormat },
): Promise<number> {
  const { format } = selection;
  const folder = session.io.path(dir);
  await mkdir(folder, { recursive: true });
  for (const { jobId, market, kind, ended } of jobs) {
    const path = join(folder, `${market}_${kind}_${jobId}${tableExtensions[format]}`);
    const stream = session.client.stream(JobService.method.exportRecords, { jobId, ...selection });
    await writeStream(session, await stream, path);
    const output = {
      job_id: jobId,
      name: basename(path),
      path,
      format,
    };
    await session.write(session.isJson ? `${JSON.stringify(output)}\n` : `${path}\n`);
    if (!ended) session.note(`${jobId} has not ended: these are its records so far`);
  }
  return jobs.length;
}

/** Downloads the files of jobs, and prints their paths. Returns the number of files. */
export async function saveFiles(
  session: CommandSession,
  jobs: readonly Job[],
  folder: string,
): Promise<number> {
  let saved = 0;
  for (const { jobId, ended, filesDeletedAt } of jobs) {
    const progress = showProgress(session.io.stderr, session.isJson);
    const files = await session.client
      .downloadAll(jobId, session.io.path(folder), {
        onBytes: ({ name, bytes: size }, bytes) => progress.file(plain(name), bytes, Number(size)),
      })
      .finally(() => progress.end());
    for (const { file, path, fetched } of files) {
      const { name, sha256, items, scope } = file;
      const output = {
        job_id: jobId,
        name,
        path,
        scope,
        items,
        bytes: Number(file.bytes),
        sha256,
        fetched,
      };
      await session.write(session.isJson ? `${JSON.stringify(output)}\n` : `${path}\n`);
    }
    saved += files.length;
    if (filesDeletedAt !== undefined)
      session.note(
        `the files of ${jobId} were deleted on ` +
          `${timestampDate(filesDeletedAt).toISOString().slice(0, 10)}`,
      );
    else if (files.length === 0)
      session.note(
        ended
          ? `${jobId} has no files; \`gleaner job results ${jobId}\` prints its results`
          : `${jobId} has no files yet; \`gleaner job results ${jobId}\` prints the results so far`,
      );
    else if (!ended)
      session.note(`${jobId} has not ended: ${counted(files.length, 'file')} so far`);
  }
  return saved;
}
