import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';
import { requireResults } from '../jobs/queries/deleted-results.ts';
import { fileName, listFiles, type ResultFilesContext } from '../jobs/queries/result-files.ts';
import { fileShape } from './file-shape.ts';
import { type Handler, handle } from './handlers.ts';
import { anyJob } from './job-search.ts';

/** Dependencies of this module. */
export type OperatorFilesContext = Pick<JobContext, 'log' | 'links'> &
  StoreUse<'getJob'> &
  ResultFilesContext;

/**
 * Returns the handlers by which operators list the result files of any job. Each created link is logged with the operator,
 * the job and its owner.
 */
export function operatorFileHandlers(context: OperatorFilesContext): [string, Handler][] {
  const { store, log } = context;
  const { method } = OperatorService;
  return [
    handle(method.listFiles, async (request) => {
      const files = await listFiles(context, await anyJob(store, request));
      // A link gives access to the contents, so it is created, and logged, per file.
      return { files: files.map((file) => fileShape({ ...file, link: '', recordsLink: '' })) };
    }),
    handle(method.createFileLink, async ({ jobId, name }, { principal }) => {
      const job = await anyJob(store, { jobId });
      requireResults(job);
      const found = (await listFiles(context, job)).find(({ file }) => fileName(file) === name);
      if (found === undefined) throw new Fault('not_found', `The job has no file '${name}'.`);
      const link = await context.links.file(job, found.file, false);
      log.info(
        { operatorId: principal.userId, jobId: job.id, userId: job.userId, file: name },
        'file link created by operator',
      );
      return {
        file: fileShape({ ...found, link, recordsLink: context.links.records(job, found.file, false) }),
      };
    }),
  ];
}
