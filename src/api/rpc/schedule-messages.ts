import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import type { ScheduleRunSchema, ScheduleSchema } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import type { JobContext } from '../../jobs/context.ts';
import { unitPriceIn } from '../../jobs/prices.ts';
import type { Mode } from '../../store/documents.ts';
import type { PendingRun, Schedule, ScheduleRun } from '../../store/schedules.ts';

type Shape = MessageInitShape<typeof ScheduleSchema>;
type RunMessage = MessageInitShape<typeof ScheduleRunSchema>;

/** Returns a time as a field, which is absent without one. */
const at = <Name extends string>(name: Name, ms: number | null) =>
  (ms === null ? {} : { [name]: timestampFromMs(ms) }) as Partial<Record<Name, Timestamp>>;

/** Returns a time of a request in milliseconds, or null for an absent one. */
export const msOf = (time: Timestamp | undefined): number | null =>
  time === undefined ? null : timestampMs(time);

/** Returns a schedule of an owner whose jobs have the mode, as the owner sees it. */
export function toScheduleMessage(
  context: JobContext,
  schedule: Schedule,
  mode: Mode,
  request?: string,
): Shape {
  const { id, name, market, kind, cron, timeZone, overlap, missed, state, reason, units, failures } =
    schedule;
  const { maxTotalCredits, creditsSpent, options } = schedule;
  return {
    scheduleId: id,
    ...{ name, market, kind, cron, timeZone, overlap, missed, state, reason, units, failures },
    ...(request === undefined ? {} : { request }),
    ...at('startAt', schedule.startAt),
    ...at('endAt', schedule.endAt),
    ...at('nextRunAt', schedule.nextRunAt),
    approved: schedule.approval !== null,
    ...(maxTotalCredits === null ? {} : { maxTotalCredits: BigInt(maxTotalCredits) }),
    costPerRun: BigInt(unitPriceIn(mode, context, context.jobTypes.of(schedule)) * units),
    creditsSpent: BigInt(creditsSpent),
    createdAt: timestampFromMs(schedule.createdAt),
    updatedAt: timestampFromMs(schedule.updatedAt),
    options: create(SubmitOptionsSchema, options),
  };
}

export function toRunMessage(run: ScheduleRun): RunMessage {
  const { id, scheduleId, trigger, state, reason, jobId, cost, refunded } = run;
  return {
    runId: id,
    ...{ scheduleId, trigger, state, reason, jobId: jobId ?? '' },
    cost: BigInt(cost),
    refunded: BigInt(refunded),
    scheduledFor: timestampFromMs(run.scheduledFor),
    startedAt: timestampFromMs(run.createdAt),
    ...at('endedAt', run.endedAt),
  };
}

/** Returns a run that waits for the end of the last one. */
export function toPendingScheduleMessage(
  scheduleId: string,
  { id, trigger, scheduledFor, startedAt }: PendingRun,
): RunMessage {
  return {
    ...{ runId: id, scheduleId, trigger, state: 'queued' },
    scheduledFor: timestampFromMs(scheduledFor),
    startedAt: timestampFromMs(startedAt),
  };
}
