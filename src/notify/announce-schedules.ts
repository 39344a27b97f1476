import type { Schedule, ScheduleNotice } from '../store/schedules.ts';
import { announceDue, type Due, reminderOf } from './announce-due.ts';
import type { NotifyContext } from './context.ts';
import { scheduleEmail } from './email.ts';
import { scheduleNotice } from './message.ts';
import { queueForOperators, queueForUser } from './queue.ts';

/** Creates the deliveries of all messages about schedules that are due. */
export function announceSchedules(context: NotifyContext, signal: AbortSignal): Promise<void> {
  const { store } = context;
  return announceDue<Schedule, ScheduleNotice>(
    context,
    {
      idField: 'scheduleId',
      find: (now, limit) => store.findSchedulesWithDueNotice(now, limit),
      reasonOf: ({ notice }) => notice!,
      announce: (schedule, notice) => announceSchedule(context, schedule, notice),
      advance: (schedule, _notice, next) => store.advanceScheduleNotice(schedule, next),
    },
    signal,
  );
}

/** Stores the deliveries of a message, whose keys are those of the schedule's state, and returns the next one. */
async function announceSchedule(
  context: NotifyContext,
  schedule: Schedule,
  notice: ScheduleNotice,
): Promise<Due<ScheduleNotice>> {
  const { store, clock } = context;
  const { id, userId, stateSince, decideBy } = schedule;
  const about = `${id}:${stateSince}`;
  const link = `${context.publicUrl()}/console/schedules/${id}`;
  if (notice !== 'awaiting_approval' && notice !== 'approval_expiring') {
    await queueForUser(context, userId, about, null, () =>
      scheduleNotice(notice, { schedule, link, at: stateSince }),
    );
    return null;
  }
  const isReminder = notice === 'approval_expiring';
  const waiting = { schedule, user: await store.getUser(userId), link, now: clock.now() };
  await queueForOperators(context, about, null, {
    notice: scheduleNotice(notice, { schedule, link, at: isReminder ? clock.now() : stateSince }),
    email: scheduleEmail(notice, waiting),
  });
  return isReminder ? null : reminderOf(decideBy, clock.now());
}
