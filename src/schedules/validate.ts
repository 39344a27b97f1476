import { Fault, type Problem } from '../contract/fault.ts';
import type { JobOptions } from '../contract/submit-options.ts';
import type { JobContext } from '../jobs/context.ts';
import { unitPriceIn } from '../jobs/credits.ts';
import { optionChecks } from '../jobs/quote.ts';
import type { Job, Mode } from '../store/documents.ts';
import { nextTime, problemOfCron, problemOfTimeZone, type Timing } from './cron.ts';
import { planRequest, type SubmitMethod } from './request.ts';

/** Fields of a schedule that are checked together. */
interface CheckedFields extends Timing {
  options: JobOptions;
  maxTotalCredits: number | null;
}

/** Owner and request of the runs, and the current time. */
interface Runs {
  userId: string;
  mode: Mode;
  now: number;
  /** Text of the request, or the units of one that was checked before. */
  request: string | { units: number };
}

/**
 * Returns the units of a run. Throws the fault `invalid` with all problems of a schedule's request,
 * times, limits, and options.
 */
export async function requireValid(
  context: JobContext,
  method: SubmitMethod,
  fields: CheckedFields,
  { userId, mode, now, request }: Runs,
): Promise<number> {
  const { jobType } = method;
  const { units, problems: requestProblems } = await checkRequest(method, request);
  const cost = unitPriceIn(mode, context, jobType) * units;
  const problems = [
    ...requestProblems,
    ...problemsOfTiming(fields, now),
    ...problemsOfLimits(fields, cost),
    ...(await problemsOfOptions(context, jobType, { userId, cost, options: fields.options })),
  ];
  if (problems.length > 0) throw new Fault('invalid', 'The schedule is not valid.', { problems });
  return units;
}

/** Returns the units of a request, 0 for one with problems. */
async function checkRequest(
  method: SubmitMethod,
  request: Runs['request'],
): Promise<{ units: number; problems: readonly Problem[] }> {
  if (typeof request !== 'string') return { units: request.units, problems: [] };
  try {
    const { units } = await planRequest(method, request);
    return { units, problems: [] };
  } catch (error) {
    if (!(error instanceof Fault) || error.problems.length === 0) throw error;
    return { units: 0, problems: error.problems };
  }
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
    if (limit != null && limit < cost) return [{ loc: [...loc], type: 'value_error', msg }];
    return [];
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
