import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { ScheduleRunSchema, ScheduleSchema } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import type { JobContext } from '../../jobs/context.ts';
import { unitPriceIn } from '../../jobs/prices.ts';
import type { Mode } from '../../store/documents.ts';
import type { PendingRun, Schedule, ScheduleRun } from '../../store/schedules.ts';
import { toMessage } from './to-message.ts';

type RunMessage = MessageInitShape<typeof ScheduleRunSchema>;

/** Returns a time of a request in milliseconds, or null for an absent one. */
export const msOf = (time: Timestamp | undefined): number | null =>
  time === undefined ? null : timestampMs(time);

const messageOf = toMessage(ScheduleSchema, 'userId', 'options');
const runOf = toMessage(ScheduleRunSchema);

/** Returns a schedule of an owner whose jobs have the mode, as the owner sees it. */
export function toScheduleMessage(
  context: JobContext,
  schedule: Schedule,
  mode: Mode,
  request?: string,
): MessageInitShape<typeof ScheduleSchema> {
  const { id: scheduleId, approval, units, options } = schedule;
  const costPerRun = unitPriceIn(mode, context, context.jobTypes.of(schedule)) * units;
  return {
    ...messageOf({ ...schedule, scheduleId, request, approved: approval !== null, costPerRun }),
    options: create(SubmitOptionsSchema, options),
  };
}

export function toRunMessage(run: ScheduleRun): RunMessage {
  return runOf({ ...run, runId: run.id, startedAt: run.createdAt });
}

/** Returns a run that waits for the end of the last one. */
export function toPendingScheduleMessage(scheduleId: string, run: PendingRun): RunMessage {
  return runOf({ ...run, runId: run.id, scheduleId, state: 'queued' });
}
