import type { Message } from '@bufbuild/protobuf';
import type { JobRequest } from '../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';
import { fullName } from '../jobs/offers.ts';
import { requireResults } from '../jobs/queries/deleted-results.ts';
import { fileName, listFiles, type ResultFilesContext } from '../jobs/queries/result-files.ts';
import { type ResultsContext, results } from '../jobs/queries/results.ts';
import { runAudited } from './audit-log.ts';
import { fileShape } from './file-shape.ts';
import { type Call, type Handlers, handle } from './handlers.ts';
import { anyJob } from './job-search.ts';
import { streamText } from './job-stream.ts';

/** Dependencies of this module. */
export type OperatorFilesContext = Pick<JobContext, 'log' | 'links' | 'clock' | 'newId'> &
  StoreUse<'getJob' | 'appendAuditEntry'> &
  ResultFilesContext &
  ResultsContext;

/**
 * Handlers by which operators read the results of any job. Each access to contents is logged with the operator, the
 * job and its owner.
 */
export function operatorFileHandlers(context: OperatorFilesContext): Handlers {
  const { store, log } = context;
  const { method } = OperatorService;
  const unary = new Map([
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
  ]);
  const streamResults = async function* (request: Message, call: Call) {
    const { principal } = call;
    const job = await anyJob(store, request as JobRequest);
    // The core records unary calls only.
    await runAudited(context, method.streamResults, request, call, async () => request);
    log.info({ operatorId: principal.userId, jobId: job.id, userId: job.userId }, 'results read by operator');
    yield* streamText('application/x-ndjson', results(context, job));
  };
  return { unary, stream: new Map([[fullName(method.streamResults), streamResults]]) };
}
