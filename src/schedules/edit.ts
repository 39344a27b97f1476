import { Fault, type Problem } from '../contract/fault.ts';
import type { JobOptions } from '../contract/submit-options.ts';
import { seriesOf } from '../contract/track.ts';
import { approvalWaitMs } from '../jobs/context.ts';
import { unitPriceIn } from '../jobs/prices.ts';
import { notTracked } from '../jobs/queries/changed.ts';
import type { Mode } from '../store/documents.ts';
import type { MissedRule, OverlapRule, Schedule, SchedulePatch } from '../store/schedules.ts';
import { type Caller, changeSchedule } from './change.ts';
import { maxSchedules, type ScheduleContext } from './context.ts';
import { nextTime, problemOfCron, problemOfTimeZone, type Timing } from './cron.ts';
import { planRequest, type SubmitMethod, submitMethodOf } from './request.ts';
import { activate, dueAfterChange, tell } from './state.ts';

/** Fields of a schedule that its owner sets. */
export interface ScheduleFields extends Timing {
  name: string;
  options: JobOptions;
  maxTotalCredits: number | null;
  overlap: OverlapRule;
  missed: MissedRule;
}

/** Fields of a new schedule. */
export interface NewSchedule extends ScheduleFields {
  market: string;
  kind: string;
  /** Body of the submit as JSON text. */
  request: string;
}

/**
 * Creates a schedule of the caller. It is active, or awaits approval if its kind does. Faults: `invalid`; `conflict` for
 * one schedule too many.
 */
export async function createSchedule(
  context: ScheduleContext,
  { userId, keyId, mode }: Caller,
  { market, kind, request, ...fields }: NewSchedule,
): Promise<Schedule> {
  const { store, clock, newId } = context;
  const method = submitMethodOf(context.offers, market, kind);
  const { units } = await planRequest(method, request);
  const now = clock.now();
  requireValid(context, method, fields, { units, mode, now });
  if ((await store.countSchedules(userId, maxSchedules)) >= maxSchedules)
    throw new Fault('conflict', `The account has ${maxSchedules} schedules, the maximum. Delete one first.`);
  const own = {
    id: newId(),
    userId,
    keyId,
    market,
    kind,
    units,
    createdAt: now,
    updatedAt: now,
    revision: 1,
  };
  const unused = { pending: null, openRuns: [], creditsSpent: 0, failures: 0 };
  const begun = {
    ...own,
    ...fields,
    ...unused,
    ...startOf(fields, needsApproval(context, method, mode), now),
  };
  const schedule: Schedule = { ...begun, dueAt: dueAfterChange(begun, now) };
  await store.createSchedule(schedule, request);
  return schedule;
}

/**
 * Changes fields of a schedule, and its request if it is given. A schedule whose kind requires approval awaits it again
 * if its request or its times change, or if a limit rises. Faults: `not_found`, `invalid`, `conflict`.
 */
export async function updateSchedule(
  context: ScheduleContext,
  id: string,
  { userId, keyId, mode }: Caller,
  changes: Partial<ScheduleFields>,
  request: string | undefined,
): Promise<Schedule> {
  return changeSchedule(context, id, userId, async (schedule, now): Promise<SchedulePatch> => {
    const method = submitMethodOf(context.offers, schedule.market, schedule.kind);
    const units = request === undefined ? schedule.units : (await planRequest(method, request)).units;
    const changed = { ...schedule, ...changes, units };
    requireValid(context, method, changed, { units, mode, now });
    const edit = { ...changes, units, keyId, ...(request === undefined ? {} : { request }) };
    const isNew = schedule.state === 'rejected' || request !== undefined || exceeds(changed, schedule);
    if (isNew && needsApproval(context, method, mode)) return { ...edit, ...startOf(changed, true, now) };
    // A run that is due already keeps its time.
    if (schedule.state === 'active' && hasSameTimes(changed, schedule)) return edit;
    if (schedule.state !== 'active' && schedule.state !== 'ended') return edit;
    return { ...edit, ...activate(changed, now) };
  });
}

/** Returns whether a schedule awaits approval. Test jobs are decided on without an operator, one by one. */
function needsApproval({ settings }: ScheduleContext, { offer }: SubmitMethod, mode: Mode): boolean {
  return offer.kind.approval && settings.approval && mode === 'live';
}

/** Returns the state of a new schedule, or of one that must be approved again. */
function startOf(
  timing: Timing,
  awaitsApproval: boolean,
  now: number,
): Pick<
  Schedule,
  'state' | 'stateSince' | 'reason' | 'approvedBy' | 'decideBy' | 'nextRunAt' | 'notice' | 'noticeAt'
> {
  const begin = { stateSince: now, reason: '', approvedBy: null };
  if (!awaitsApproval)
    return {
      ...begin,
      state: 'active',
      decideBy: null,
      nextRunAt: nextTime(timing, now),
      notice: null,
      noticeAt: null,
    };
  const decideBy = now + approvalWaitMs;
  return {
    ...begin,
    state: 'awaiting_approval',
    decideBy,
    nextRunAt: null,
    ...tell('awaiting_approval', now),
  };
}

const hasSameTimes = (changed: Timing, before: Timing): boolean =>
  (['cron', 'timeZone', 'startAt', 'endAt'] as const).every((field) => changed[field] === before[field]);

/** Returns whether a change lets a schedule do more, or run at other times, than was approved. */
function exceeds(changed: Schedule, approved: Schedule): boolean {
  const isRaised = (now: number | null | undefined, before: number | null | undefined) =>
    before != null && (now == null || now > before);
  return (
    changed.cron !== approved.cron ||
    changed.timeZone !== approved.timeZone ||
    isRaised(changed.endAt, approved.endAt) ||
    isRaised(changed.maxTotalCredits, approved.maxTotalCredits) ||
    isRaised(changed.options.maxCredits, approved.options.maxCredits)
  );
}

/** Throws the fault `invalid` with the problems of a schedule's times and limits. */
function requireValid(
  context: ScheduleContext,
  { offer }: SubmitMethod,
  fields: ScheduleFields,
  { units, mode, now }: { units: number; mode: Mode; now: number },
): void {
  const problems = [...problemsOfTiming(fields, now)];
  const cost = unitPriceIn(mode, context, offer) * units;
  const limits = [
    [['body', 'max_total_credits'], fields.maxTotalCredits],
    [['body', 'options', 'max_credits'], fields.options.maxCredits],
  ] as const;
  for (const [loc, limit] of limits)
    if (limit != null && limit < cost)
      problems.push({
        loc: [...loc],
        type: 'value_error',
        msg: `A run costs ${cost} credits, more than ${limit}`,
      });
  if (fields.options.only === 'changed' && seriesOf(fields.options.track) === null)
    problems.push(...notTracked(['body', 'options', 'only']).problems);
  if (problems.length > 0) throw new Fault('invalid', 'The schedule is not valid.', { problems });
}

/** Returns the problems of a schedule's times. */
export function problemsOfTiming(timing: Timing, now: number): Problem[] {
  const { cron, timeZone, startAt, endAt } = timing;
  const found = { cron: problemOfCron(cron), time_zone: problemOfTimeZone(timeZone) };
  const problems = Object.entries(found).flatMap(([field, msg]) =>
    msg === null ? [] : [{ loc: ['body', field], msg, type: 'value_error' }],
  );
  if (problems.length === 0 && nextTime(timing, now) === null) {
    const isReversed = startAt !== null && endAt !== null && startAt >= endAt;
    const msg = isReversed ? 'The end is not after the start' : 'No run is due before the end';
    problems.push({ loc: ['body', 'end_at'], msg, type: 'value_error' });
  }
  return problems;
}
