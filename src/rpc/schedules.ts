import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  type CreateScheduleRequest,
  OperatorScheduleService,
  ScheduleService,
  type UpdateScheduleRequest,
} from '../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { Fault } from '../contract/fault.ts';
import { type JobOptions, jobOptionsOf, type SubmitOptions } from '../contract/submit-options.ts';
import {
  approveSchedule,
  pauseSchedule,
  rejectSchedule,
  requireSchedule,
  resumeSchedule,
  runSchedule,
} from '../schedules/change.ts';
import type { ScheduleContext } from '../schedules/context.ts';
import { nextTimes } from '../schedules/cron.ts';
import { createSchedule, type NewSchedule, type ScheduleFields, updateSchedule } from '../schedules/edit.ts';
import { ownerMode } from '../schedules/owner.ts';
import { withResult } from '../schedules/settle.ts';
import { problemsOfTiming } from '../schedules/validate.ts';
import type { MissedRule, OverlapRule, Schedule, ScheduleFilter } from '../store/schedules.ts';
import { defaultPageSize, type Handlers, handle } from './handlers.ts';
import { msOf, pendingShape, runShape, scheduleShape } from './schedule-shape.ts';

/** Times of a preview if the request has no number. */
const previewCount = 5;

/** Returns the handlers of users and operators for schedules. */
export function scheduleHandlers(context: ScheduleContext): Handlers {
  return { unary: new Map([...userHandlers(context), ...operatorHandlers(context)]), stream: new Map() };
}

function userHandlers(context: ScheduleContext) {
  const { store, clock } = context;
  const { method } = ScheduleService;
  const shape = (schedule: Schedule) => withRequest(context, schedule);
  return [
    handle(method.createSchedule, async (request, { principal, idempotencyKey }) =>
      shape(await createSchedule(context, principal, newSchedule(request), idempotencyKey)),
    ),
    handle(method.listSchedules, (request, { principal }) =>
      listOf(context, { userId: principal.userId, ...stateOf(request) }, request),
    ),
    handle(method.previewSchedule, async ({ cron, timeZone, startAt, endAt, count }) => {
      const timing = { cron, timeZone: timeZone || 'UTC', startAt: msOf(startAt), endAt: msOf(endAt) };
      const now = clock.now();
      const problems = problemsOfTiming(timing, now).filter(({ loc }) => loc[1] !== 'end_at');
      if (problems.length > 0) throw new Fault('invalid', 'The schedule is not valid.', { problems });
      return { times: nextTimes(timing, now, count || previewCount).map((time) => timestampFromMs(time)) };
    }),
    handle(method.getSchedule, async ({ scheduleId }, { principal }) =>
      shape(await requireSchedule(store, scheduleId, principal.userId)),
    ),
    handle(method.updateSchedule, async (request, { principal }) =>
      shape(
        await updateSchedule(context, request.scheduleId, principal, changesOf(request), request.request),
      ),
    ),
    handle(method.deleteSchedule, async ({ scheduleId }, { principal }) => {
      const { id } = await requireSchedule(store, scheduleId, principal.userId);
      await store.deleteSchedule(id);
      return {};
    }),
    handle(method.pauseSchedule, async ({ scheduleId }, { principal }) =>
      shape(await pauseSchedule(context, scheduleId, principal.userId)),
    ),
    handle(method.resumeSchedule, async ({ scheduleId }, { principal }) =>
      shape(await resumeSchedule(context, scheduleId, principal)),
    ),
    handle(method.runSchedule, async ({ scheduleId }, { principal }) => {
      const run = await runSchedule(context, scheduleId, principal);
      return 'isQueued' in run ? pendingShape(scheduleId, run) : runShape(run);
    }),
    handle(method.listScheduleRuns, async (request, { principal }) => {
      const { pageSize, pageToken } = request;
      const { id, pending } = await requireSchedule(store, request.scheduleId, principal.userId);
      const page = { limit: pageSize || defaultPageSize, after: pageToken || null };
      const { items, next } = await store.listScheduleRuns(id, page);
      const waiting = pending === null || pageToken !== '' ? [] : [pendingShape(id, pending)];
      const runs = await Promise.all(items.map((run) => withResult(context, run)));
      return { runs: [...waiting, ...runs.map(runShape)], nextPageToken: next ?? '' };
    }),
  ];
}

function operatorHandlers(context: ScheduleContext) {
  const { method } = OperatorScheduleService;
  const shape = async (schedule: Schedule) => ({
    ...(await withRequest(context, schedule)),
    userId: schedule.userId,
  });
  return [
    handle(method.listSchedules, (request) => {
      const ofUser = request.userId === '' ? {} : { userId: request.userId };
      return listOf(context, { ...ofUser, ...stateOf(request) }, request, true);
    }),
    handle(method.getSchedule, async ({ scheduleId }) =>
      shape(await requireSchedule(context.store, scheduleId, null)),
    ),
    handle(method.approveSchedule, async ({ scheduleId, updatedAt }, { principal }) => {
      const seen = { operatorId: principal.userId, updatedAt: msOf(updatedAt)! };
      return shape(await approveSchedule(context, scheduleId, seen));
    }),
    handle(method.rejectSchedule, async ({ scheduleId, reason }) =>
      shape(await rejectSchedule(context, scheduleId, reason)),
    ),
  ];
}

async function withRequest(context: ScheduleContext, schedule: Schedule) {
  const stored = await context.store.getScheduleRequest(schedule.id);
  return scheduleShape(context, schedule, await ownerMode(context, schedule.userId), stored?.request);
}

async function listOf(
  context: ScheduleContext,
  filter: ScheduleFilter,
  { pageSize, pageToken }: { pageSize: number; pageToken: string },
  isOperator = false,
) {
  const page = { limit: pageSize || defaultPageSize, after: pageToken || null };
  const { items, next } = await context.store.listSchedules(filter, page);
  const owners = [...new Set(items.map(({ userId }) => userId))];
  const modes = new Map(
    await Promise.all(owners.map(async (id) => [id, await ownerMode(context, id)] as const)),
  );
  const schedules = items.map((schedule) => ({
    ...scheduleShape(context, schedule, modes.get(schedule.userId)!),
    userId: isOperator ? schedule.userId : '',
  }));
  return { schedules, nextPageToken: next ?? '' };
}

const stateOf = ({ state }: { state: string }): ScheduleFilter =>
  state === '' ? {} : { state: state as Schedule['state'] };

function newSchedule(request: CreateScheduleRequest): NewSchedule {
  const { name, market, kind, cron, timeZone, overlap, missed, maxTotalCredits, options } = request;
  return {
    ...{ name, market, kind, cron, request: request.request },
    timeZone: timeZone || 'UTC',
    startAt: msOf(request.startAt),
    endAt: msOf(request.endAt),
    maxTotalCredits: maxTotalCredits === undefined ? null : Number(maxTotalCredits),
    overlap: (overlap || 'skip') as OverlapRule,
    missed: (missed || 'run_once') as MissedRule,
    options: optionsOf(options),
  };
}

/** Returns the options of each run. Fault `invalid` for one that submits nothing. */
function optionsOf(options: SubmitOptions | undefined): JobOptions {
  if (options?.validateOnly)
    throw Fault.invalid(['body', 'options', 'validate_only'], 'A run cannot be a quote', 'value_error');
  return jobOptionsOf(options);
}

/** Returns the given fields of a change. */
function changesOf(request: UpdateScheduleRequest): Partial<ScheduleFields> {
  const { name, cron, timeZone, startAt, endAt, maxTotalCredits, overlap, missed, options, clear } = request;
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
