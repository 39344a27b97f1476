import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import {
  type CreateScheduleRequest,
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
    handle(method.listSchedules, async (request, { principal }) => {
      const isOperator = principal.role === 'operator';
      if (!isOperator && request.userId !== '' && request.userId !== principal.userId)
        throw new Fault('forbidden', 'Only operators may select schedules by user_id.');
      const userId = isOperator ? request.userId : principal.userId;
      return listOf(
        context,
        { ...(userId === '' ? {} : { userId }), ...stateOf(request) },
        request,
        isOperator,
      );
    }),
    handle(method.previewSchedule, async ({ cron, timeZone, startAt, endAt, count }) => {
      const timing = {
        cron,
        timeZone: timeZone || 'UTC',
        startAt: msOf(startAt),
        endAt: msOf(endAt),
      };
      const now = clock.now();
      const problems = problemsOfTiming(timing, now).filter(({ loc }) => loc[1] !== 'end_at');
      if (problems.length > 0)
        throw new Fault('invalid', 'The schedule is not valid.', { problems });
      return {
        times: nextTimes(timing, now, count || previewCount).map((time) => timestampFromMs(time)),
      };
    }),
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
      return 'isQueued' in run ? toPendingScheduleMessage(scheduleId, run) : toRunMessage(run);
    }),
    handle(method.listScheduleRuns, async (request, { principal }) => {
      const { id, pending } = await requireSchedule(store, request.scheduleId, ownerOf(principal));
      const { items, next } = await store.scheduleRuns.list({ scheduleId: id }, pageOf(request));
      const waiting =
        pending === null || request.pageToken !== '' ? [] : [toPendingScheduleMessage(id, pending)];
      const runs = await Promise.all(items.map((run) => withResult(context, run)));
      return { runs: [...waiting, ...runs.map(toRunMessage)], nextPageToken: next ?? '' };
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
  return toScheduleMessage(
    context,
    schedule,
    await readMode(context.store, schedule.userId),
    stored?.request,
  );
}

type ScheduleFilter = Partial<Pick<Schedule, 'userId' | 'state'>>;

async function listOf(
  context: JobContext,
  filter: ScheduleFilter,
  request: Parameters<typeof pageOf>[0],
  isOperator = false,
) {
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

const stateOf = ({ state }: { state: string }): ScheduleFilter =>
  state === '' ? {} : { state: state as Schedule['state'] };

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
  return {
    ...(name === undefined ? {} : { name }),
    ...(cron === undefined ? {} : { cron }),
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(startAt === undefined ? {} : { startAt: msOf(startAt) }),
    ...(endAt === undefined ? {} : { endAt: msOf(endAt) }),
    ...(maxTotalCredits === undefined ? {} : { maxTotalCredits: Number(maxTotalCredits) }),
    ...(overlap === undefined ? {} : { overlap: overlap as OverlapRule }),
    ...(missed === undefined ? {} : { missed: missed as MissedRule }),
    ...(options === undefined ? {} : { options: optionsOf(options) }),
    ...(clear.includes('start_at') ? { startAt: null } : {}),
    ...(clear.includes('end_at') ? { endAt: null } : {}),
    ...(clear.includes('max_total_credits') ? { maxTotalCredits: null } : {}),
  };
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
