import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Command } from 'commander';
import { type Job, JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import type { GleanerClient } from '../../client/index.ts';
import { addCommand } from './command.ts';
import { exitCodes, UsageError } from './exit.ts';
import { checkId } from './jobs-source.ts';
import { counted, plain } from './print.ts';
import { showProgress } from './progress.ts';
import {
  checkOnly,
  onlyOption,
  type TableFormat,
  tableExtensions,
  tableFormat,
  tableOption,
  writeStream,
} from './results.ts';
import type { Session } from './session.ts';
import { codeOfJobs, watchJobs } from './watch.ts';

/** Adds `download`. */
export function addDownloadCommand(program: Command): void {
  addCommand<{ dir?: string; wait?: true; format?: string; only?: string }>(program, {
    usage: 'download <job...>',
    about: 'Download the result files of jobs, resume interrupted downloads, and verify SHA-256',
    options: [
      ['--dir <folder>', 'destination (default: the current folder)'],
      ['--wait', 'wait until the jobs end'],
      tableOption,
      onlyOption,
    ],
    async run(session, { dir = '.', wait, format, only }, ids: string[]) {
      checkOnly(only);
      if (only !== undefined && format === undefined)
        throw new UsageError('--only selects records of a table: add --format <format>');
      // --json prints the saved files, whatever their format is.
      const table = format === undefined ? null : tableFormat(format, { isJson: false });
      const client = session.user();
      const { signal } = session;
      let jobs = await Promise.all(ids.map((id) => client.find(checkId(id), { signal })));
      if (wait)
        jobs = await watchJobs(
          session,
          client,
          jobs.map(({ jobId }) => jobId),
        );
      const saved =
        table === null
          ? await saveFiles(session, client, jobs, dir)
          : await saveTables(session, client, jobs, session.io.path(dir), {
              format: table,
              only: only ?? '',
            });
      if (wait) return codeOfJobs(jobs);
      return saved > 0 ? exitCodes.ok : exitCodes.notFound;
    },
  });
}

/** Saves the records of each job as one table, and prints the paths. Returns the number of tables. */
async function saveTables(
  session: Session,
  client: GleanerClient,
  jobs: readonly Job[],
  folder: string,
  { format, only }: { format: TableFormat; only: string },
): Promise<number> {
  await mkdir(folder, { recursive: true });
  for (const { jobId, market, kind, ended } of jobs) {
    const path = join(folder, `${market}_${kind}_${jobId}${tableExtensions[format]}`);
    const request = { jobId, format, only };
    const stream = client.stream(JobService.method.exportRecords, request, { signal: session.signal });
    await writeStream(session, await stream, path);
    const shown = { job_id: jobId, name: basename(path), path, format };
    await session.write(session.isJson ? `${JSON.stringify(shown)}\n` : `${path}\n`);
    if (!ended) session.note(`${jobId} has not ended: these are its records so far`);
  }
  return jobs.length;
}

/** Downloads the files of jobs, and prints their paths. Returns the number of files. */
export async function saveFiles(
  session: Session,
  client: GleanerClient,
  jobs: readonly Job[],
  folder: string,
): Promise<number> {
  let saved = 0;
  for (const { jobId, ended, filesDeletedAt } of jobs) {
    const progress = showProgress(session.io.stderr, session.isJson);
    const files = await client
      .downloadAll(jobId, session.io.path(folder), {
        signal: session.signal,
        onBytes: ({ name, bytes: size }, bytes) => progress.file(plain(name), bytes, Number(size)),
      })
      .finally(() => progress.end());
    for (const { file, path, fetched } of files) {
      const { name, sha256, items, scope } = file;
      const shown = { job_id: jobId, name, path, scope, items, bytes: Number(file.bytes), sha256, fetched };
      await session.write(session.isJson ? `${JSON.stringify(shown)}\n` : `${path}\n`);
    }
    saved += files.length;
    if (filesDeletedAt !== undefined)
      session.note(
        `the files of ${jobId} were deleted on ${timestampDate(filesDeletedAt).toISOString().slice(0, 10)}`,
      );
    else if (files.length === 0)
      session.note(
        ended
          ? `${jobId} has no files; \`gleaner results ${jobId}\` prints its results`
          : `${jobId} has no files yet; \`gleaner results ${jobId}\` prints the results so far`,
      );
    else if (!ended) session.note(`${jobId} has not ended: ${counted(files.length, 'file')} so far`);
  }
  return saved;
}
