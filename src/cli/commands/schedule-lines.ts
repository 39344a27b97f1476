import { timestampDate } from '@bufbuild/protobuf/wkt';
import {
  type Schedule,
  type ScheduleRun,
  ScheduleSchema,
} from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { type Column, count, counted, type Display } from './print.ts';
import type { Session } from './session.ts';

/** Columns of schedules. */
export const scheduleColumns: Column<Schedule>[] = [
  { name: 'SCHEDULE', text: ({ scheduleId }) => scheduleId },
  { name: 'NAME', text: ({ name }) => name },
  { name: 'JOB', text: ({ market, kind }) => `${market} ${kind}` },
  { name: 'STATUS', text: (schedule) => schedule.state, paint: (text, { state }) => state(text) },
  { name: 'CRON', text: ({ cron }) => cron },
  { name: 'TIME ZONE', text: ({ timeZone }) => timeZone },
  { name: 'NEXT RUN', text: ({ nextRunAt }, { time }) => time(nextRunAt) },
  { name: 'SPENT', text: ({ creditsSpent }) => count(creditsSpent), isNumber: true },
];

/** Column of the owner, for operators. */
export const userColumn: Column<Schedule> = { name: 'USER', text: ({ userId }) => userId };

/** Columns of runs. */
export const runColumns: Column<ScheduleRun>[] = [
  { name: 'RUN', text: ({ runId }) => runId },
  { name: 'DUE', text: ({ scheduledFor }, { time }) => time(scheduledFor) },
  { name: 'TRIGGER', text: ({ trigger }) => trigger },
  { name: 'STATUS', text: (run) => run.state, paint: (text, { state }) => state(text) },
  { name: 'COST', text: ({ cost, refunded }) => count(cost - refunded), isNumber: true },
  { name: 'JOB', text: ({ jobId }) => jobId },
  { name: 'REASON', text: ({ reason }) => reason },
];

/** Shows a schedule. */
export const showSchedule = (session: Session, schedule: Schedule): Promise<void> =>
  session.show(ScheduleSchema, schedule, wordsOf(schedule));

const wordsOf =
  (schedule: Schedule) =>
  ({ pairs, state, time }: Display) =>
    pairs([
      ['schedule', schedule.scheduleId],
      ['name', schedule.name],
      ['user', schedule.userId],
      ['job', `${schedule.market} ${schedule.kind}, ${counted(schedule.units, 'unit')}`],
      ['status', schedule.state, state],
      ['reason', schedule.reason],
      ['cron', `${schedule.cron} (${schedule.timeZone})`],
      ['next run', time(schedule.nextRunAt)],
      ['decide by', time(schedule.decideBy)],
      ['start', time(schedule.startAt)],
      ['end', time(schedule.endAt)],
      ['cost per run', counted(Number(schedule.costPerRun), 'credit')],
      ['spent', `${count(schedule.creditsSpent)} of ${schedule.maxTotalCredits ?? 'unlimited'}`],
      ['overlap', schedule.overlap],
      ['missed', schedule.missed],
      // Exact, because an approval names it.
      ['updated at', schedule.updatedAt === undefined ? '' : timestampDate(schedule.updatedAt).toISOString()],
    ]);
