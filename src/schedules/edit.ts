import { isDeepStrictEqual } from 'node:util';
import { idFromName } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import type { JobContext } from '../jobs/context.ts';
import type { Schedule, SchedulePatch, ScheduleRequest } from '../store/schedules.ts';
import { changeSchedule, type ScheduleCaller } from './change.ts';
import type { Timing } from './cron.ts';
import { submitMethodOf } from './request.ts';
import { activate, dueAfterChange, withdrawApproval } from './state.ts';
import { requireValid } from './validate.ts';

/** Maximum schedules of a user. */
const maxSchedules = 100;

/** Fields of a schedule that its owner sets. */
export type ScheduleFields = Timing &
  Pick<Schedule, 'name' | 'options' | 'maxTotalCredits' | 'overlap' | 'missed'>;

export type NewSchedule = ScheduleFields &
  Pick<Schedule, 'market' | 'kind'> &
  Pick<ScheduleRequest, 'request'>;

/**
 * Creates a schedule of the caller. It is active; the first run of a kind that requires approval
 * awaits it. Under an idempotency key, a repeated call returns the schedule that the first one
 * created. Faults: `invalid`; `conflict` for one schedule too many, and for a key whose schedule
 * differs.
 */
export async function createSchedule(
  context: JobContext,
  { userId, keyId, mode }: ScheduleCaller,
  requested: NewSchedule,
  idempotencyKey?: string,
): Promise<Schedule> {
  const { market, kind, request, ...fields } = requested;
  const { store, clock, newId } = context;
  const id =
    idempotencyKey === undefined ? newId() : idFromName(`schedule/${userId}/${idempotencyKey}`);
  const earlier = idempotencyKey === undefined ? null : await store.schedules.get(id);
  if (earlier !== null) return requireSame(context, earlier, requested);
  const method = submitMethodOf(context.jobTypes, market, kind);
  const now = clock.now();
  const units = await requireValid(context, method, fields, {
    userId,
    mode,
    now,
    request,
  });
  if ((await store.schedules.count({ userId }, maxSchedules)) >= maxSchedules)
    throw new Fault(
      'conflict',
      `The account has ${maxSchedules} schedules, the maximum. Delete one first.`,
    );
  const created = {
    id,
    userId,
    keyId,
    market,
    kind,
    units,
    createdAt: now,
    updatedAt: now,
    revision: 1,
    ...fields,
    pending: null,
    openRuns: [],
    creditsSpent: 0,
    failures: 0,
    version: 1,
    approval: null,
    notice: null,
    noticeAt: null,
    ...activate(fields, now),
  };
  const schedule: Schedule = { ...created, dueAt: dueAfterChange(created, now) };
  if (await store.schedules.insert({ ...schedule, request })) return schedule;
  // A call under the same key was faster.
  const first = await store.schedules.get(id);
  return first === null ? schedule : requireSame(context, first, requested);
}

/** Returns a schedule. Throws a Fault `conflict` if it differs from the requested one. */
async function requireSame(
  { store }: JobContext,
  schedule: Schedule,
  requested: NewSchedule,
): Promise<Schedule> {
  const stored = await store.schedules.pick({ id: schedule.id }, ['request', 'revision']);
  const actual: Record<string, unknown> = { ...schedule, request: stored?.request };
  if (Object.entries(requested).every(([field, value]) => isDeepStrictEqual(actual[field], value)))
    return schedule;
  throw new Fault(
    'conflict',
    `The Idempotency-Key was already used for the schedule '${schedule.id}', which differs.`,
  );
}

/**
 * Changes fields of a schedule, and its request if it is given. The next run needs an approval of
 * its own if the request or the times change, or if a limit rises. A rejected schedule is active
 * again. Faults: `not_found`, `invalid`, `conflict`.
 */
export async function updateSchedule(
  context: JobContext,
  id: string,
  { userId, keyId, mode }: ScheduleCaller,
  changes: Partial<ScheduleFields>,
  request: string | undefined,
): Promise<Schedule> {
  return changeSchedule(context, id, userId, async (schedule, now): Promise<SchedulePatch> => {
    const method = submitMethodOf(context.jobTypes, schedule.market, schedule.kind);
    const units = await requireValid(
      context,
      method,
      { ...schedule, ...changes },
      {
        userId,
        mode,
        now,
        request: request ?? schedule,
      },
    );
    const changed = { ...schedule, ...changes, units };
    // A run that waits is submitted as changed, so the caller's key pays for it.
    const pending = schedule.pending && { ...schedule.pending, keyId };
    const isNew =
      schedule.state === 'rejected' || request !== undefined || exceeds(changed, schedule);
    const edit: SchedulePatch = {
      ...changes,
      units,
      keyId,
      pending,
    };
    if (request !== undefined) edit.request = request;
    if (isNew) Object.assign(edit, withdrawApproval(schedule));
    // A run that is due already keeps its time.
    if (schedule.state === 'active' && hasSameTimes(changed, schedule)) return edit;
    if (schedule.state === 'paused') return edit;
    return { ...edit, ...activate(changed, now) };
  });
}

const hasSameTimes = (changed: Timing, before: Timing): boolean =>
  (['cron', 'timeZone', 'startAt', 'endAt'] as const).every(
    (field) => changed[field] === before[field],
  );

/** Returns whether a change lets a schedule do more, or run at other times, than was approved. */
function exceeds(changed: Schedule, approved: Schedule): boolean {
  const isRaised = (now: number | null | undefined, before: number | null | undefined) =>
    before != null && (now == null || now > before);
  const isEarlier = approved.startAt !== null && (changed.startAt ?? 0) < approved.startAt;
  return (
    isEarlier ||
    changed.cron !== approved.cron ||
    changed.timeZone !== approved.timeZone ||
    isRaised(changed.endAt, approved.endAt) ||
    isRaised(changed.maxTotalCredits, approved.maxTotalCredits) ||
    isRaised(changed.options.maxCredits, approved.options.maxCredits)
  );
}
