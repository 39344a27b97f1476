import { create, type Message, toJsonString } from '@bufbuild/protobuf';
import {
  type ExportRecordsRequest,
  JobSchema,
  JobService,
  type StreamFailuresRequest,
} from '../../gen/gleaner/job/v1/job_pb.ts';
import { Fault } from '../contract/fault.ts';
import { tagHeader, warningHeader } from '../contract/response-headers.ts';
import type { JobContext, StoreUse } from '../jobs/context.ts';
import { fullName } from '../jobs/offers.ts';
import {
  type FailureFormat,
  type FailuresContext,
  failures,
  failureTypes,
} from '../jobs/queries/failures.ts';
import { listFiles, type ResultFilesContext } from '../jobs/queries/result-files.ts';
import { type ResultsContext, results } from '../jobs/queries/results.ts';
import { jobTag } from '../jobs/queries/tag.ts';
import { showWhenChanged, type WaitContext } from '../jobs/queries/wait.ts';
import { createWatch } from '../jobs/queries/watch.ts';
import { type CancelContext, cancel } from '../jobs/steps/cancel.ts';
import { type DeleteFilesContext, deleteFiles } from '../jobs/steps/delete-files.ts';
import { submitterOf } from '../jobs/steps/idempotency.ts';
import { type ReleaseHoldContext, releaseHold } from '../jobs/steps/release-hold.ts';
import { type RetryContext, retry, retryWarning } from '../jobs/steps/retry.ts';
import { isAccepted } from '../kinds/states.ts';
import type { Job } from '../store/documents.ts';
import { fileShape } from './file-shape.ts';
import { type Call, type Handlers, handle, type StreamHandler } from './handlers.ts';
import { type JobListContext, listJobs } from './job-list.ts';
import { type JobReadsContext, jobReads } from './job-reads.ts';
import { createJobShapes, type JobShape, type JobShapeContext } from './job-shape.ts';
import { streamText } from './job-stream.ts';
import { type RecordReads, type RecordReadsContext, recordReads } from './record-reads.ts';

/** Dependencies of this module. */
type JobServiceContext = Pick<JobContext, 'clock'> &
  StoreUse<'getJob'> &
  CancelContext &
  DeleteFilesContext &
  FailuresContext &
  ReleaseHoldContext &
  ResultFilesContext &
  ResultsContext &
  RecordReadsContext &
  RetryContext &
  WaitContext &
  JobListContext &
  JobReadsContext &
  JobShapeContext;

/**
 * Returns the handlers of gleaner.job.v1.JobService, for the caller's jobs of every kind. Fault `not_found` for a job of
 * another owner, and for one whose submit was not finished.
 */
export function jobServiceHandlers(
  context: JobServiceContext,
  records: RecordReads = recordReads(context),
): Handlers {
  const { store } = context;
  const { method } = JobService;
  const shapes = createJobShapes(context);
  const reads = jobReads(context);

  const find = async ({ jobId }: { jobId: string }, { principal }: Call): Promise<Job> => {
    const job = await store.getJob(jobId.toLowerCase());
    if (job === null || job.userId !== principal.userId || !isAccepted(job))
      throw new Fault('not_found', `There is no job '${jobId}'.`);
    return job;
  };
  const shape = async (job: Job) => (await shapes.forOwner([job]))[0]!;

  const unary = new Map([
    handle(method.listJobs, async (request, { principal }) => {
      const visibility = { owners: { userId: principal.userId }, unfinished: false };
      const { items, next } = await listJobs(context, request, visibility);
      return { jobs: await shapes.forOwner(items), nextPageToken: next ?? '' };
    }),
    handle(method.getJob, async (request, call) =>
      showWhenChanged(context, await find(request, call), call, async (job) => {
        const shown = await shape(job);
        const { success, failed, batchesDone, waitingFor } = shown;
        return {
          tag: jobTag(context.clock, job, [success, failed, batchesDone, waitingFor]),
          render: () => shown,
        };
      }),
    ),
    handle(method.listUnits, async (request, call) => reads.listUnits(request, await find(request, call))),
    handle(method.listFaults, async (request, call) => reads.listFaults(request, await find(request, call))),
    handle(method.getProgress, async (request, call) =>
      reads.getProgress(request, await find(request, call)),
    ),
    handle(method.getQuality, async (request, call) => reads.getQuality(request, await find(request, call))),
    handle(method.releaseJob, async (request, call) => {
      const job = await find(request, call);
      return shape(await releaseHold(context, job, request.discard ? 'discarded' : 'released'));
    }),
    handle(method.listRecords, async (request, call) =>
      records.listRecords(request, await find(request, call)),
    ),
    handle(method.listFields, async (request, call) => records.listFields(await find(request, call))),
    handle(method.listFiles, async (request, call) => {
      const job = await find(request, call);
      const files = await listFiles(context, job);
      call.responseHeaders[tagHeader] = jobTag(context.clock, job, files.length);
      return { files: files.map(fileShape) };
    }),
    handle(method.deleteFiles, async (request, call) =>
      shape(await deleteFiles(context, await find(request, call))),
    ),
    handle(method.retryJob, async (request, call) => {
      const source = await find(request, call);
      const submitter = submitterOf(call.principal, call);
      // Read first: an error after the charge would be reported for a retry that was accepted.
      const warning = await retryWarning(context, source);
      const job = await retry(context, method.retryJob, request, submitter, source, null, shape);
      if (warning !== null) call.responseHeaders[warningHeader] = warning;
      return job;
    }),
    handle(method.cancelJob, async (request, call) => {
      const { id } = await find(request, call);
      return shape(await cancel(context, id, { operatorId: null, reason: '' }));
    }),
  ]);
  const stream = streamHandlers(context, find, shape, records);
  return { unary, stream };
}

/** Returns the handlers of streamed responses. */
function streamHandlers(
  context: JobServiceContext,
  find: (request: { jobId: string }, call: Call) => Promise<Job>,
  shape: (job: Job) => Promise<JobShape>,
  records: RecordReads,
): Map<string, StreamHandler> {
  const { store } = context;
  const { method } = JobService;
  const watch = createWatch(context, async (jobId) => {
    const job = await store.getJob(jobId);
    if (job === null) throw new Fault('not_found', `There is no job '${jobId}'.`);
    const value = await shape(job);
    const mark = toJsonString(JobSchema, create(JobSchema, value));
    return { value, mark, ended: job.finishedAt !== null };
  });
  return new Map<string, StreamHandler>([
    [
      fullName(method.watchJob),
      async function* (request: Message, call: Call) {
        const { id } = await find(request as never, call);
        for await (const value of watch(id, call.signal)) yield create(JobSchema, value);
      },
    ],
    [
      fullName(method.streamResults),
      async function* (request: Message, call: Call) {
        const job = await find(request as never, call);
        yield* streamText('application/x-ndjson', results(context, job));
      },
    ],
    [
      fullName(method.exportRecords),
      async function* (request: Message, call: Call) {
        const job = await find(request as never, call);
        yield* records.exportRecords(request as ExportRecordsRequest, job, call.responseHeaders);
      },
    ],
    [
      fullName(method.streamFailures),
      async function* (request: Message, call: Call) {
        const job = await find(request as never, call);
        const format = ((request as StreamFailuresRequest).format || 'jsonl') as FailureFormat;
        yield* streamText(failureTypes[format], failures(context, job, format));
      },
    ],
  ]);
}
