import type { Schedule } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { count, counted, type Display } from './print.ts';

/** Formats a schedule as names and values. */
export const scheduleWords = (schedule: Schedule, { pairs, state, time }: Display): string =>
  pairs([
    ['schedule', schedule.scheduleId],
    ['name', schedule.name],
    ['user', schedule.userId],
    ['job', `${schedule.market} ${schedule.kind}, ${counted(schedule.units, 'unit')}`],
    ['status', schedule.state, state],
    ['reason', schedule.reason],
    ['cron', `${schedule.cron} (${schedule.timeZone})`],
    ['next run', time(schedule.nextRunAt)],
    ['approved', schedule.approved ? 'yes' : ''],
    ['start', time(schedule.startAt)],
    ['end', time(schedule.endAt)],
    ['cost per run', counted(Number(schedule.costPerRun), 'credit')],
    ['spent', `${count(schedule.creditsSpent)} of ${schedule.maxTotalCredits ?? 'unlimited'}`],
    ['overlap', schedule.overlap],
    ['missed', schedule.missed],
    ['updated at', time(schedule.updatedAt)],
  ]);
