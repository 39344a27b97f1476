import { advanceScheduleNotice, type Schedule, type ScheduleNotice } from '../../store/schedules.ts';
import { announceDue, type Due } from './announce-due.ts';
import type { NotifyContext } from './context.ts';
import { scheduleNotice } from './message.ts';
import { queueForUser } from './queue.ts';

/** Creates the deliveries of all messages about schedules that are due. */
export function announceSchedules(context: NotifyContext, signal: AbortSignal): Promise<void> {
  const { store } = context;
  return announceDue<Schedule, ScheduleNotice>(
    context,
    {
      idField: 'scheduleId',
      find: (now, limit) =>
        store.schedules.find({ noticeAt: { atMost: now } }, { order: ['noticeAt', 'id'], limit }),
      reasonOf: ({ notice }) => notice!,
      announce: (schedule, notice) => announceSchedule(context, schedule, notice),
      advance: (schedule, _notice, next) => advanceScheduleNotice(store, schedule, next),
    },
    signal,
  );
}

/** Stores the deliveries of a message, with keys that name the schedule's state. */
async function announceSchedule(
  context: NotifyContext,
  schedule: Schedule,
  notice: ScheduleNotice,
): Promise<Due<ScheduleNotice>> {
  const { id, userId, stateSince } = schedule;
  const link = `${context.publicUrl()}/console/schedules/${id}`;
  await queueForUser(context, userId, `${id}:${stateSince}`, null, () =>
    scheduleNotice(notice, { schedule, link, at: stateSince }),
  );
  return null;
}
