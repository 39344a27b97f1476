import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import {
  type CreateScheduleRequest,
  type ListSchedulesRequest,
  type PreviewScheduleRequest,
  ScheduleRunSchema,
  ScheduleSchema,
  ScheduleService,
  type UpdateScheduleRequest,
} from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import type { Principal } from '../../access/principal.ts';
import { readMode } from '../../access/test-account.ts';
import { Fault } from '../../contract/fault.ts';
import {
  type JobOptions,
  jobOptionsOf,
  type SubmitOptions,
} from '../../contract/submit-options.ts';
import type { JobContext } from '../../jobs/context.ts';
import { unitPriceIn } from '../../jobs/credits.ts';
import {
  pauseSchedule,
  requireSchedule,
  resumeSchedule,
  runSchedule,
} from '../../schedules/change.ts';
import { nextTimes } from '../../schedules/cron.ts';
import {
  createSchedule,
  type NewSchedule,
  type ScheduleFields,
  updateSchedule,
} from '../../schedules/edit.ts';
import { withResult } from '../../schedules/finalize-runs.ts';
import { problemsOfTiming } from '../../schedules/validate.ts';
import type { Where } from '../../store/collection.ts';
import type { Mode } from '../../store/documents.ts';
import {
  deleteSchedule,
  type MissedRule,
  type OverlapRule,
  type PendingRun,
  type Schedule,
  type ScheduleRun,
} from '../../store/schedules.ts';
import { type Handlers, handle, pageOf } from './handlers.ts';
import { toMessage } from './to-message.ts';

/** Times of a preview if the request has no number. */
const previewCount = 5;

export function scheduleHandlers(context: JobContext): Handlers {
  return { unary: new Map(userHandlers(context)), stream: new Map() };
}

function userHandlers(context: JobContext) {
  const { store, clock } = context;
  const { method } = ScheduleService;
  const shape = (schedule: Schedule) => withRequest(context, schedule);
  return [
    handle(method.createSchedule, async (request, { principal, idempotencyKey }) =>
      shape(await createSchedule(context, principal, newSchedule(request), idempotencyKey)),
    ),
    handle(method.listSchedules, (request, { principal }) =>
      listSchedules(context, request, principal),
    ),
    handle(method.previewSchedule, async (request) => previewSchedule(request, clock.now())),
    handle(method.getSchedule, async ({ scheduleId }, { principal }) => {
      const schedule = await requireSchedule(store, scheduleId, ownerOf(principal));
      return {
        ...(await shape(schedule)),
        userId: principal.role === 'operator' ? schedule.userId : '',
      };
    }),
    handle(method.updateSchedule, async (request, { principal }) =>
      shape(
        await updateSchedule(
          context,
          request.scheduleId,
          principal,
          changesOf(request),
          request.request,
        ),
      ),
    ),
    handle(method.deleteSchedule, async ({ scheduleId }, { principal }) => {
      const { id } = await requireSchedule(store, scheduleId, principal.userId);
      await deleteSchedule(store, id);
      return {};
    }),
    handle(method.pauseSchedule, async ({ scheduleId }, { principal }) =>
      shape(await pauseSchedule(context, scheduleId, ownerOf(principal))),
    ),
    handle(method.resumeSchedule, async ({ scheduleId }, { principal }) =>
      shape(await resumeSchedule(context, scheduleId, principal)),
    ),
    handle(method.runSchedule, async ({ scheduleId }, { principal }) => {
      const run = await runSchedule(context, scheduleId, principal);
      if ('isQueued' in run) return toPendingScheduleMessage(scheduleId, run);
      return toRunMessage(run);
    }),
    handle(method.listScheduleRuns, async (request, { principal }) => {
      const { id, pending } = await requireSchedule(store, request.scheduleId, ownerOf(principal));
      const { items, next } = await store.scheduleRuns.list({ scheduleId: id }, pageOf(request));
      const results = await Promise.all(items.map((run) => withResult(context, run)));
      const runs = results.map(toRunMessage);
      const isFirstPage = request.pageToken === '';
      if (pending !== null && isFirstPage) runs.unshift(toPendingScheduleMessage(id, pending));
      return { runs, nextPageToken: next ?? '' };
    }),
  ];
}

/**
 * Returns the owner whose schedules a caller may use, or null for an operator, who may use every
 * user's schedules.
 */
const ownerOf = ({ role, userId }: Principal): string | null =>
  role === 'operator' ? null : userId;

async function withRequest(context: JobContext, schedule: Schedule) {
  const stored = await context.store.schedules.pick({ id: schedule.id }, ['request', 'revision']);
  const mode = await readMode(context.store, schedule.userId);
  return toScheduleMessage(context, schedule, mode, stored?.request);
}

/** Returns the next times of a schedule that may not exist yet. Throws `invalid`. */
function previewSchedule(request: PreviewScheduleRequest, now: number) {
  const timing = {
    cron: request.cron,
    timeZone: request.timeZone || 'UTC',
    startAt: msOf(request.startAt),
    endAt: msOf(request.endAt),
  };
  const problems = problemsOfTiming(timing, now).filter(({ loc }) => loc[1] !== 'end_at');
  if (problems.length > 0) throw new Fault('invalid', 'The schedule is not valid.', { problems });
  const times = nextTimes(timing, now, request.count || previewCount);
  return { times: times.map((time) => timestampFromMs(time)) };
}

/**
 * Returns a page of a user's schedules, or for operators of every user's. Throws `forbidden` for a
 * user who names another one.
 */
async function listSchedules(
  context: JobContext,
  request: ListSchedulesRequest,
  principal: Principal,
) {
  const isOperator = principal.role === 'operator';
  if (!isOperator && request.userId !== '' && request.userId !== principal.userId)
    throw new Fault('forbidden', 'Only operators may select schedules by user_id.');
  const userId = isOperator ? request.userId : principal.userId;
  const filter: Where<Schedule> = {
    userId: userId === '' ? undefined : userId,
    state: request.state === '' ? undefined : (request.state as Schedule['state']),
  };
  const { items, next } = await context.store.schedules.list(filter, pageOf(request));
  const owners = [...new Set(items.map(({ userId }) => userId))];
  const modes = new Map(
    await Promise.all(owners.map(async (id) => [id, await readMode(context.store, id)] as const)),
  );
  const schedules = items.map((schedule) => ({
    ...toScheduleMessage(context, schedule, modes.get(schedule.userId)!),
    userId: isOperator ? schedule.userId : '',
  }));
  return { schedules, nextPageToken: next ?? '' };
}

function newSchedule(request: CreateScheduleRequest): NewSchedule {
  const { name, market, kind, cron, timeZone, overlap, missed, maxTotalCredits, options } = request;
  return {
    name,
    market,
    kind,
    cron,
    request: request.request,
    timeZone: timeZone || 'UTC',
    startAt: msOf(request.startAt),
    endAt: msOf(request.endAt),
    maxTotalCredits: maxTotalCredits === undefined ? null : Number(maxTotalCredits),
    overlap: (overlap || 'skip') as OverlapRule,
    missed: (missed || 'run_once') as MissedRule,
    options: optionsOf(options),
  };
}

/**
 * Returns the options of each run. Throws `invalid` for an option with which runs would submit
 * nothing.
 */
function optionsOf(options: SubmitOptions | undefined): JobOptions {
  if (options?.validateOnly)
    throw Fault.invalid(
      ['body', 'options', 'validate_only'],
      'A run cannot be a quote',
      'value_error',
    );
  return jobOptionsOf(options);
}

/** Returns the given fields of a change. */
function changesOf(request: UpdateScheduleRequest): Partial<ScheduleFields> {
  const { name, cron, timeZone, startAt, endAt, maxTotalCredits, overlap, missed, options, clear } =
    request;
  const changes: Partial<ScheduleFields> = {};
  if (name !== undefined) changes.name = name;
  if (cron !== undefined) changes.cron = cron;
  if (timeZone !== undefined) changes.timeZone = timeZone;
  if (startAt !== undefined) changes.startAt = msOf(startAt);
  if (endAt !== undefined) changes.endAt = msOf(endAt);
  if (maxTotalCredits !== undefined) changes.maxTotalCredits = Number(maxTotalCredits);
  if (overlap !== undefined) changes.overlap = overlap as OverlapRule;
  if (missed !== undefined) changes.missed = missed as MissedRule;
  if (options !== undefined) changes.options = optionsOf(options);
  if (clear.includes('start_at')) changes.startAt = null;
  if (clear.includes('end_at')) changes.endAt = null;
  if (clear.includes('max_total_credits')) changes.maxTotalCredits = null;
  return changes;
}

type RunMessage = MessageInitShape<typeof ScheduleRunSchema>;

/** Returns a time of a request in milliseconds, or null for an absent one. */
const msOf = (time: Timestamp | undefined): number | null =>
  time === undefined ? null : timestampMs(time);

const messageOf = toMessage(ScheduleSchema, 'userId', 'options');
const runOf = toMessage(ScheduleRunSchema);

/** Returns a schedule of an owner whose jobs have the mode, as the owner sees it. */
function toScheduleMessage(
  context: JobContext,
  schedule: Schedule,
  mode: Mode,
  request?: string,
): MessageInitShape<typeof ScheduleSchema> {
  const { id: scheduleId, approval, units, options } = schedule;
  const costPerRun = unitPriceIn(mode, context, context.jobTypes.of(schedule)) * units;
  return {
    ...messageOf({
      ...schedule,
      scheduleId,
      request,
      approved: approval !== null,
      costPerRun,
    }),
    options: create(SubmitOptionsSchema, options),
  };
}

function toRunMessage(run: ScheduleRun): RunMessage {
  return runOf({ ...run, runId: run.id, startedAt: run.createdAt });
}

/** Returns a run that waits for the end of the last one. */
function toPendingScheduleMessage(scheduleId: string, run: PendingRun): RunMessage {
  return runOf({
    ...run,
    runId: run.id,
    scheduleId,
    state: 'queued',
  });
}
