import { resolve } from 'node:path';
import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { Command } from 'commander';
import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import type { GleanerClient } from '../../client/index.ts';
import { addCommand } from './command.ts';
import { exitCodes } from './exit.ts';
import { checkId } from './jobs-source.ts';
import { counted, plain } from './print.ts';
import { showProgress } from './progress.ts';
import type { Session } from './session.ts';
import { codeOfJobs, watchJobs } from './watch.ts';

/** Adds `download`. */
export function addDownloadCommand(program: Command): void {
  addCommand<{ dir?: string; wait?: true }>(program, {
    usage: 'download <job...>',
    about: 'Download the result files of jobs, resume interrupted downloads, and verify SHA-256',
    options: [
      ['--dir <folder>', 'destination (default: the current folder)'],
      ['--wait', 'wait until the jobs end'],
    ],
    async run(session, { dir = '.', wait }, ids: string[]) {
      const client = session.user();
      const { signal } = session;
      let jobs = await Promise.all(ids.map((id) => client.find(checkId(id), { signal })));
      if (wait)
        jobs = await watchJobs(
          session,
          client,
          jobs.map(({ jobId }) => jobId),
        );
      const saved = await saveFiles(session, client, jobs, dir);
      if (wait) return codeOfJobs(jobs);
      return saved > 0 ? exitCodes.ok : exitCodes.notFound;
    },
  });
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
    const progress = showProgress(session.isJson);
    const files = await client
      .downloadAll(jobId, resolve(folder), {
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
