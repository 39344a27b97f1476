import { create, type DescMethod, type Message, toJsonString } from '@bufbuild/protobuf';
import {
  type ExportRecordsRequest,
  type JobRequest,
  JobSchema,
  JobService,
  type StreamFailuresRequest,
} from '../../../gen/gleaner/job/v1/job_pb.ts';
import { tagHeader, warningHeader } from '../../contract/response-headers.ts';
import type { JobContext } from '../../jobs/context.ts';
import { noJob } from '../../jobs/queries/read.ts';
import { createDifferences } from '../../jobs/queries/reread-diff.ts';
import { listFiles, results } from '../../jobs/queries/results.ts';
import { type FailureFormat, failures, failureTypes } from '../../jobs/queries/units.ts';
import { createWatch, jobTag, showWhenChanged } from '../../jobs/queries/watch.ts';
import { cancel, releaseHold } from '../../jobs/steps/decide.ts';
import { deleteFiles } from '../../jobs/steps/delete.ts';
import { submitterOf } from '../../jobs/steps/idempotency.ts';
import { type DeriveJob, reread, retry, retryWarning } from '../../jobs/steps/retry.ts';
import type { Job, Role } from '../../store/documents.ts';
import { isAccepted } from '../../store/job-states.ts';
import { streamText } from './body-stream.ts';
import {
  type Call,
  type Handlers,
  handle,
  type ShapeHandler,
  type StreamHandler,
} from './handlers.ts';
import { findJob, listJobs } from './job-list.ts';
import { createJobMessages, type JobMessage, toFileMessage } from './job-messages.ts';
import { jobReads } from './job-reads.ts';
import { type RecordReads, recordReads } from './record-reads.ts';

/** Lists the files of a job, with links for its owner. */
async function showFiles(context: JobContext, job: Job, { principal, responseHeaders }: Call) {
  const files = await listFiles(context, job);
  responseHeaders[tagHeader] = jobTag(context.clock, job, files.length);
  // A link gives access to the contents. Operators therefore create one link per file, and the
  // audit log records each.
  const isOperator = principal.role === 'operator';
  return {
    files: files.map((file) =>
      toFileMessage(isOperator ? { ...file, link: '', recordsLink: '' } : file),
    ),
  };
}

/**
 * Returns the handlers of gleaner.job.v1.JobService, for the caller's jobs of every kind. Operators
 * may use every user's jobs. Users get `not_found` for another owner's job, and for a job whose
 * submission was not finished.
 */
export function jobServiceHandlers(context: JobContext): Handlers {
  const { store } = context;
  const { method } = JobService;
  const shapes = createJobMessages(context);
  const reads = jobReads(context);
  const listDifferences = createDifferences();
  const records = recordReads(context);

  const find = async ({ jobId }: { jobId: string }, { principal }: Call): Promise<Job> => {
    const job = await findJob(store, jobId);
    const isOwn =
      principal.role === 'operator' || (job?.userId === principal.userId && isAccepted(job));
    if (job === null || !isOwn) throw noJob(jobId);
    return job;
  };
  /** Creates the handler of a method about a job that the caller may use. */
  const ofJob = <M extends DescMethod>(
    jobMethod: M,
    handler: (job: Job, ...parameters: Parameters<ShapeHandler<M>>) => ReturnType<ShapeHandler<M>>,
  ) =>
    handle(jobMethod, async (request, call) =>
      handler(await find(request as unknown as { jobId: string }, call), request, call),
    );
  const shapeAll = (jobs: readonly Job[], role: Role) =>
    role === 'operator' ? shapes.forOperator(jobs) : shapes.forOwner(jobs);
  const shape = async (job: Job, role: Role) => (await shapeAll([job], role))[0]!;

  const derive = async (
    step: DeriveJob,
    derivation: typeof method.retryJob | typeof method.rereadJob,
    request: JobRequest,
    source: Job,
    call: Call,
  ) => {
    const { principal, idempotencyKey, submitOptions } = call;
    const { userId, role } = principal;
    const isOperator = role === 'operator';
    const submitter = isOperator
      ? // The operator's decision does not count against the ceiling of the owner's key.
        {
          userId,
          mode: source.mode,
          keyId: null,
          idempotencyKey,
          options: submitOptions,
        }
      : submitterOf(principal, call);
    const approvedBy = isOperator ? userId : null;
    return step(context, derivation, request, submitter, source, approvedBy, (job) =>
      shape(job, role),
    );
  };

  const unary = new Map([
    handle(method.listJobs, async (request, call) => {
      const { items, next } = await listJobs(context, request, call.principal);
      return { jobs: await shapeAll(items, call.principal.role), nextPageToken: next ?? '' };
    }),
    handle(method.getJob, async (request, call) =>
      showWhenChanged(context, await find(request, call), call, async (job) => {
        const message = await shape(job, call.principal.role);
        const { success, failed, batchesDone, waitingFor } = message;
        return {
          tag: jobTag(context.clock, job, [success, failed, batchesDone, waitingFor]),
          render: () => message,
        };
      }),
    ),
    ofJob(method.listUnits, (job, request) => reads.listUnits(request, job)),
    ofJob(method.listFaults, (job, request) => reads.listFaults(request, job)),
    ofJob(method.getProgress, (job, request) => reads.getProgress(request, job)),
    ofJob(method.getQuality, (job, request) => reads.getQuality(request, job)),
    handle(method.releaseJob, async (request, call) => {
      const job = await find(request, call);
      return shape(
        await releaseHold(context, job, request.discard ? 'discarded' : 'released'),
        call.principal.role,
      );
    }),
    ofJob(method.listRecords, (job, request) => records.listRecords(request, job)),
    ofJob(method.listDifferences, (job) => listDifferences(context, job)),
    ofJob(method.listFields, (job) => records.listFields(job)),
    ofJob(method.listFiles, (job, _request, call) => showFiles(context, job, call)),
    handle(method.deleteFiles, async (request, call) =>
      shape(await deleteFiles(context, await find(request, call)), call.principal.role),
    ),
    handle(method.retryJob, async (request, call) => {
      const source = await find(request, call);
      // Read before the charge: an error after it would report an accepted retry as failed.
      const warning = await retryWarning(context, source);
      const job = await derive(retry, method.retryJob, request, source, call);
      if (warning !== null) call.responseHeaders[warningHeader] = warning;
      return job;
    }),
    handle(method.rereadJob, async (request, call) =>
      derive(reread, method.rereadJob, request, await find(request, call), call),
    ),
    handle(method.cancelJob, async (request, call) => {
      const { id } = await find(request, call);
      const { role, userId } = call.principal;
      const by = { operatorId: role === 'operator' ? userId : null, reason: request.reason };
      return shape(await cancel(context, id, by), role);
    }),
  ]);
  const stream = streamHandlers(context, find, shape, records);
  return { unary, stream };
}

function streamHandlers(
  context: JobContext,
  find: (request: { jobId: string }, call: Call) => Promise<Job>,
  shape: (job: Job, role: Role) => Promise<JobMessage>,
  records: RecordReads,
): Map<DescMethod, StreamHandler> {
  const { store } = context;
  const { method } = JobService;
  // Callers of a role share the polls of a job.
  const watchAs = (role: Role) =>
    createWatch(context, async (jobId) => {
      const job = await store.jobs.get(jobId);
      if (job === null) throw noJob(jobId);
      const value = await shape(job, role);
      const mark = toJsonString(JobSchema, create(JobSchema, value));
      return { value, mark, ended: job.finishedAt !== null };
    });
  const watches = { user: watchAs('user'), operator: watchAs('operator') };
  return new Map<DescMethod, StreamHandler>([
    [
      method.watchJob,
      async function* (request: Message, call: Call) {
        const { id } = await find(request as never, call);
        for await (const value of watches[call.principal.role](id, call.signal))
          yield create(JobSchema, value);
      },
    ],
    [
      method.streamResults,
      async function* (request: Message, call: Call) {
        const job = await find(request as never, call);
        yield* streamText('application/x-ndjson', results(context, job));
      },
    ],
    [
      method.exportRecords,
      async function* (request: Message, call: Call) {
        const job = await find(request as never, call);
        yield* records.exportRecords(request as ExportRecordsRequest, job, call.responseHeaders);
      },
    ],
    [
      method.streamFailures,
      async function* (request: Message, call: Call) {
        const job = await find(request as never, call);
        const format = ((request as StreamFailuresRequest).format || 'jsonl') as FailureFormat;
        yield* streamText(failureTypes[format], failures(context, job, format));
      },
    ],
  ]);
}
