import type { Job } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { ScheduleService } from '../../../gen/gleaner/schedule/v1/schedule_pb.ts';
import { UsageError } from './exit.ts';
import type { CommandSession } from './session.ts';

/** Returns the job of a reference. Throws a UsageError for a job of another user than --user names. */
export async function findJob({ client, userId }: CommandSession, text: string): Promise<Job> {
  const job = await client.find(checkId(text));
  if (userId !== '' && job.userId !== userId)
    throw new UsageError(`--user: ${job.jobId} is not a job of the user ${userId}`);
  return job;
}

/** Returns the id of the job of a reference. */
export async function findJobId(session: CommandSession, text: string): Promise<string> {
  const id = checkId(text);
  return session.userId === '' && id.includes('-') ? id : (await findJob(session, id)).jobId;
}

/** Checks that a schedule is of the user that --user names. Throws a UsageError. */
export async function checkSchedule({ client, userId }: CommandSession, scheduleId: string): Promise<void> {
  if (userId === '') return;
  const schedule = await client.call(ScheduleService.method.getSchedule, { scheduleId });
  if (schedule.userId !== userId)
    throw new UsageError(`--user: ${scheduleId} is not a schedule of the user ${userId}`);
}

/** Parses a job reference: a UUID, a task number, or a path that ends with one. Throws a UsageError. */
function checkId(text: string): string {
  const id = text.startsWith('/') ? (text.split('/').at(-1) ?? '') : text;
  if (/^\d{1,18}$/.test(id) || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return id;
  throw new UsageError(`No job "${text}". Pass a job UUID or a task number.`);
}
