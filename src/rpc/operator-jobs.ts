import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type BatchSchema,
  type ListJobsRequest,
  OperatorService,
} from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { testAccountId } from '../access/test-account.ts';
import { warningHeader } from '../contract/response-headers.ts';
import type { StoreUse } from '../jobs/context.ts';
import { type CancelContext, cancel } from '../jobs/steps/cancel.ts';
import { approve, type DecideContext, reject } from '../jobs/steps/decide.ts';
import { type RetryContext, retry, retryWarning } from '../jobs/steps/retry.ts';
import type { BatchSummary, Job } from '../store/documents.ts';
import { type Handler, handle } from './handlers.ts';
import { isListed, type JobListContext, type JobVisibility, listJobs } from './job-list.ts';
import { type JobReadsContext, jobReads } from './job-reads.ts';
import { anyJob, findJobByName, findOwners } from './job-search.ts';
import { createJobShapes, type JobShapeContext } from './job-shape.ts';

/** Dependencies of this module. */
export type OperatorJobsContext = StoreUse<
  'getJob' | 'getJobByNumber' | 'getUser' | 'listBatches' | 'listUsers'
> &
  CancelContext &
  DecideContext &
  RetryContext &
  JobListContext &
  JobReadsContext &
  JobShapeContext;

/** Returns the operators' handlers for jobs. */
export function operatorJobHandlers(context: OperatorJobsContext): [string, Handler][] {
  const { store } = context;
  const { method } = OperatorService;
  const shapes = createJobShapes(context);
  const reads = jobReads(context);
  const find = (request: { jobId: string }) => anyJob(store, request);
  const shape = async (job: Job) => (await shapes.forOperator([job]))[0]!;

  return [
    handle(method.listJobs, async (request) => {
      const { search } = request;
      const named = search === '' ? null : await findJobByName(store, search);
      if (named !== null) return { jobs: isListed(context, named, request) ? [await shape(named)] : [] };
      const owners = await ownersOf(context, request);
      const { items, next } = await listJobs(context, request, { owners, unfinished: true });
      return { jobs: await shapes.forOperator(items), nextPageToken: next ?? '' };
    }),
    handle(method.getJob, async (request) => ({ job: await shape(await find(request)) })),
    handle(method.listUnits, async (request) => reads.listUnits(request, await find(request))),
    handle(method.listFaults, async (request) => reads.listFaults(request, await find(request))),
    handle(method.getProgress, async (request) => reads.getProgress(request, await find(request))),
    handle(method.getQuality, async (request) => reads.getQuality(request, await find(request))),
    handle(method.listBatches, async (request) => {
      const { id } = await find(request);
      return { batches: (await store.listBatches(id)).map(batchShape) };
    }),
    handle(method.retryJob, async (request, { principal, idempotencyKey, responseHeaders }) => {
      const source = await find(request);
      // The operator's decision does not count against the ceiling of the owner's key.
      const submitter = { userId: principal.userId, mode: source.mode, keyId: null, idempotencyKey };
      // Read first: an error after the charge would be reported for a retry that was accepted.
      const warning = await retryWarning(context, source);
      const response = await retry(
        context,
        method.retryJob,
        request,
        submitter,
        source,
        principal.userId,
        async (job) => ({ job: await shape(job) }),
      );
      if (warning !== null) responseHeaders[warningHeader] = warning;
      return response;
    }),
    handle(method.cancelJob, async (request, { principal }) => {
      const { id } = await find(request);
      const { reason } = request;
      return { job: await shape(await cancel(context, id, { operatorId: principal.userId, reason })) };
    }),
    handle(method.approveJob, async ({ jobId }, { principal }) => ({
      job: await shape(await approve(context, jobId, principal.userId)),
    })),
    handle(method.rejectJob, async ({ jobId, reason }, { principal }) => ({
      job: await shape(await reject(context, jobId, principal.userId, reason)),
    })),
  ];
}

/** Returns the owners of the requested jobs, or their mode if the request names no owner. */
async function ownersOf(
  { store }: StoreUse<'getUser' | 'listUsers'>,
  { userId, search, mode }: Pick<ListJobsRequest, 'userId' | 'search' | 'mode'>,
): Promise<JobVisibility['owners']> {
  const isTest = mode === 'test';
  const found = search === '' ? undefined : await findOwners(store, search);
  const userIds = found && (isTest ? found.map(testAccountId) : found);
  if (userId === '') return userIds === undefined ? { mode: isTest ? 'test' : 'live' } : { userIds };
  const isTestAccount = (await store.getUser(userId))?.testOf != null;
  return {
    userId: isTest && !isTestAccount ? testAccountId(userId) : userId,
    ...(userIds === undefined ? {} : { userIds }),
  };
}

function batchShape(batch: BatchSummary): MessageInitShape<typeof BatchSchema> {
  const { id, seq, region, state, attempt, total, success, failed, endedAt, notBefore } = batch;
  return {
    batchId: id,
    seq,
    region,
    state,
    attempt,
    total,
    success,
    failed,
    ...(endedAt === null ? {} : { endedAt: timestampFromMs(endedAt) }),
    ...(notBefore === null ? {} : { notBefore: timestampFromMs(notBefore) }),
  };
}
