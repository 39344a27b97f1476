import { Fault, type Problem } from '../contract/fault.ts';
import type { JobOptions } from '../contract/submit-options.ts';
import type { JobContext } from '../jobs/context.ts';
import { unitPriceIn } from '../jobs/credits.ts';
import { optionChecks } from '../jobs/quote.ts';
import type { Job, Mode } from '../store/documents.ts';
import { nextTime, problemOfCron, problemOfTimeZone, type Timing } from './cron.ts';
import type { SubmitMethod } from './request.ts';

/** Fields of a schedule that are checked together. */
interface CheckedFields extends Timing {
  options: JobOptions;
  maxTotalCredits: number | null;
}

/** Owner and size of the runs, and the current time. */
interface Runs {
  userId: string;
  units: number;
  mode: Mode;
  now: number;
}

/** Throws the fault `invalid` with all problems of a schedule's times, limits, and options. */
export async function requireValid(
  context: JobContext,
  { jobType }: SubmitMethod,
  fields: CheckedFields,
  { userId, units, mode, now }: Runs,
): Promise<void> {
  const cost = unitPriceIn(mode, context, jobType) * units;
  const problems = [
    ...problemsOfTiming(fields, now),
    ...problemsOfLimits(fields, cost),
    ...(await problemsOfOptions(context, jobType, { userId, cost, options: fields.options })),
  ];
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

/** Returns the problems of limits that do not allow one run. */
function problemsOfLimits({ maxTotalCredits, options }: CheckedFields, cost: number): Problem[] {
  const limits = [
    [['body', 'max_total_credits'], maxTotalCredits],
    [['body', 'options', 'max_credits'], options.maxCredits],
  ] as const;
  return limits.flatMap(([loc, limit]) => {
    const msg = `A run costs ${cost} credits, more than ${limit}`;
    return limit != null && limit < cost ? [{ loc: [...loc], type: 'value_error', msg }] : [];
  });
}

/** Returns the problems for which the submit of each run would be refused, located in `options`. */
async function problemsOfOptions(
  context: JobContext,
  jobType: SubmitMethod['jobType'],
  job: Pick<Job, 'userId' | 'cost' | 'options'>,
): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const check of optionChecks) {
    const fault = await check(context, jobType, job);
    for (const { loc, ...problem } of fault?.problems ?? [])
      problems.push({ ...problem, loc: ['body', 'options', ...loc.slice(1)] });
  }
  return problems;
}
