import type { DescMethod, Message, MessageInitShape } from '@bufbuild/protobuf';
import type { JobRequest } from '../../../gen/gleaner/job/v1/job_pb.ts';
import {
  BatchSchema,
  type ExportUserRequest,
  FieldDriftSchema,
  OperatorService,
  ProcessSchema,
} from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { type Clock, timeOfDay } from '../../base/clock.ts';
import { diagnoseSetup } from '../../base/setup-checks.ts';
import { Fault } from '../../contract/fault.ts';
import { skipComparison } from '../../history/failed-comparison.ts';
import type { JobContext } from '../../jobs/context.ts';
import { pagesOf } from '../../jobs/kept-pages.ts';
import { fileName, listFiles } from '../../jobs/queries/results.ts';
import { requireResults } from '../../jobs/queries/rows.ts';
import { approve, reject } from '../../jobs/steps/decide.ts';
import { acceptDrift, type FieldDrift, listFieldDrift } from '../../quality/alarms.ts';
import type { BatchSummary } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import { findLiveProcesses } from '../../store/operations.ts';
import { exportAccount } from './account-export.ts';
import { auditLogHandlers } from './audit-log.ts';
import { streamText } from './body-stream.ts';
import { type Handler, type Handlers, handle, type StreamHandler } from './handlers.ts';
import { anyJob } from './job-list.ts';
import { createJobMessages, toFileMessage } from './job-messages.ts';
import { operatorUserHandlers } from './operator-users.ts';
import { originShapes } from './origin-shape.ts';
import { toMessage } from './to-message.ts';

function operatorDriftHandlers({ store }: JobContext): [DescMethod, Handler][] {
  const { method } = OperatorService;
  return [
    handle(method.listDriftAlarms, async ({ market, all }) => {
      const drift = await listFieldDrift(store, all);
      return {
        alarms: drift.filter((each) => market === '' || each.market === market).map(toDriftMessage),
      };
    }),
    handle(method.acceptDrift, async ({ market, page, field }) => ({
      fields: await acceptDrift(store, market, page, field),
    })),
  ];
}

const driftOf = toMessage(FieldDriftSchema);

function toDriftMessage(drift: FieldDrift): MessageInitShape<typeof FieldDriftSchema> {
  const { example } = drift;
  return driftOf({
    ...drift,
    absentShare: drift.absent,
    usualShare: drift.baseline,
    contradictedShare: drift.contradicted,
    pages: Math.round(drift.pages),
    exampleUnit: example && JSON.stringify(example.input),
    exampleRegion: example?.region,
  });
}

/** Returns the handlers with which operators export a user's data, and the kept pages of a job. */
function operatorExportHandlers(context: JobContext): [DescMethod, StreamHandler][] {
  const { exportUser, streamPages } = OperatorService.method;
  const run = async function* (request: Message) {
    const { userId } = request as ExportUserRequest;
    const user = await context.store.users.get(userId);
    if (user === null) throw new Fault('not_found', `There is no user '${userId}'.`);
    yield* streamText('application/x-ndjson', exportAccount(context, user));
  };
  const pages = async function* (request: Message) {
    const job = await anyJob(context.store, request as JobRequest);
    yield* streamText('application/warc', pagesOf(context, job));
  };
  return [
    [exportUser, run],
    [streamPages, pages],
  ];
}

/**
 * Returns the handler with which operators create links to result files of any job. Each created
 * link is logged with the operator, the job and its owner.
 */
function operatorFileHandlers(context: JobContext): [DescMethod, Handler][] {
  const { store, log } = context;
  const { method } = OperatorService;
  return [
    handle(method.createFileLink, async ({ jobId, name }, { principal }) => {
      const job = await anyJob(store, { jobId });
      requireResults(job);
      const found = (await listFiles(context, job)).find(({ file }) => fileName(file) === name);
      if (found === undefined) throw new Fault('not_found', `The job has no file '${name}'.`);
      const link = await context.links.file(job, found.file, false);
      log.info(
        {
          operatorId: principal.userId,
          jobId: job.id,
          userId: job.userId,
          file: name,
        },
        'file link created by operator',
      );
      return {
        file: toFileMessage({
          ...found,
          link,
          recordsLink: context.links.records(job, found.file, false),
        }),
      };
    }),
  ];
}

/** Time that a process is listed after its last heartbeat, in milliseconds. */
const heartbeatMaxAgeMs = 60_000;

/** Period of the listed request counts of origins, in milliseconds. */
const originPeriodMs = 3_600_000;

const toProcessMessage = toMessage(ProcessSchema);

/** Returns the operators' handlers for work, origins and settings. */
function operatorWorkHandlers(context: JobContext): [DescMethod, Handler][] {
  const { store, clock, settings, sharedCounts } = context;
  const { method } = OperatorService;
  return [
    handle(method.skipComparison, async ({ jobId }) => ({
      series: (await skipComparison(context, jobId.toLowerCase())).series,
    })),
    handle(method.getWork, async () => ({
      backlog: (await sharedCounts.backlog()).map(({ dueAt: _, ...row }) => row),
      processes: (await findLiveProcesses(store, clock.now(), heartbeatMaxAgeMs)).map(
        toProcessMessage,
      ),
    })),
    handle(method.listOrigins, async () => {
      const minutes = await store.originMinutes.find({
        minute: { atLeast: clock.now() - originPeriodMs },
      });
      const pauses = await store.origins.listPauses();
      return {
        origins: originShapes({
          origins: settings.origins,
          pauses,
          minutes,
          clock,
        }),
      };
    }),
    handle(method.listSettings, async () => ({
      settings: settings.effectiveSettings.map((setting) => ({ ...setting })),
    })),
    handle(method.listSetupProblems, async () => ({
      problems: diagnoseSetup(settings)
        .filter(({ state }) => state !== 'ok')
        .map(({ name, message, remedy, guide = '' }) => ({ name, message, remedy, guide })),
    })),
  ];
}

function operatorJobHandlers(context: JobContext): [DescMethod, Handler][] {
  const { store, clock } = context;
  const { method } = OperatorService;
  const shapes = createJobMessages(context);
  const shape = async (job: Job) => (await shapes.forOperator([job]))[0]!;

  return [
    handle(method.listBatches, async (request) => {
      const { id } = await anyJob(store, request);
      return {
        batches: (await store.batches.find({ jobId: id })).map((batch) =>
          toBatchMessage(clock, batch),
        ),
      };
    }),
    handle(method.approveJob, async ({ jobId }, { principal }) => ({
      job: await shape(await approve(context, jobId, principal.userId)),
    })),
    handle(method.rejectJob, async ({ jobId, reason }, { principal }) => ({
      job: await shape(await reject(context, jobId, principal.userId, reason)),
    })),
  ];
}

const batchOf = toMessage(BatchSchema);

function toBatchMessage(clock: Clock, batch: BatchSummary): MessageInitShape<typeof BatchSchema> {
  const notBefore = batch.notBefore === null ? null : timeOfDay(clock, batch.notBefore);
  return batchOf({ ...batch, batchId: batch.id, notBefore });
}

/** Returns the handlers of gleaner.operator.v1.OperatorService. */
export function operatorHandlers(context: JobContext): Handlers {
  const log = auditLogHandlers(context);
  const unary = new Map([
    ...operatorUserHandlers(context),
    ...operatorJobHandlers(context),
    ...operatorWorkHandlers(context),
    ...operatorDriftHandlers(context),
    ...log.unary,
    ...operatorFileHandlers(context),
  ]);
  const stream = new Map([...log.stream, ...operatorExportHandlers(context)]);
  return { unary, stream };
}
