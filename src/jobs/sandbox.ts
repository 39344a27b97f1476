import { Fault } from '../contract/fault.ts';
import type { Plan } from '../kinds/kind.ts';
import type { Unit } from '../store/batches.ts';
import type { Job } from '../store/documents.ts';
import { openStates } from '../store/job-states.ts';
import type { Store } from '../store/store.ts';
import { approvalWaitMs } from './context.ts';

/*
 * Rules of test jobs (docs/sandbox.md). A test job has the lifecycle of a live one, except that its
 * batches have their own queue, its units read the sandbox, and its first unit decides on its
 * approval.
 */

/**
 * Name of the queue of test batches, in place of a market's. Only workers with a sandbox consume
 * it.
 */
export const sandboxQueue = 'sandbox';

/**
 * Decision on a test job that awaits approval. `none`: it waits until its deadline, unless an
 * operator decides.
 */
export type TestDecision = 'approve' | 'reject' | 'none';

const decisions: Readonly<Record<string, TestDecision>> = { 990: 'reject', 991: 'none' };

/**
 * Returns the decision that the last three digits of a job's first unit select; by default, it is
 * approved.
 */
export function testDecision({ key }: Pick<Unit, 'key'>): TestDecision {
  const digits = key.match(/\d{3}(?!\d)/g)?.at(-1);
  return (
    (digits !== undefined && Object.hasOwn(decisions, digits) && decisions[digits]) || 'approve'
  );
}

/**
 * Returns the time from the submission of a test job to its decision, in milliseconds. The sweep
 * decides.
 */
export function testDecisionMs({ groups }: Pick<Plan, 'groups'>): number {
  const first = groups.find(({ units }) => units.length > 0)?.units[0];
  if (first !== undefined && testDecision(first) === 'none') return approvalWaitMs;
  return 0;
}

/** Most jobs of a test account that have not ended, and most units of them. */
const maxOpenJobs = 100;
const maxOpenUnits = 100_000;

/** Maximum bytes of a test account's results in the result storage. */
const maxStoredBytes = 1024 ** 3;

/**
 * Time after the end of a test job at which its files are deleted, in milliseconds: the lifetime of
 * links to files.
 */
export const testResultsMs = 7 * 24 * 3_600_000;

/** `Retry-After` of a submission above these limits, in milliseconds. */
const openRetryMs = 30_000;
const storedRetryMs = 3_600_000;

/**
 * Returns the fault `rate_limited` if a test job would exceed the limits of its account's open
 * jobs, or the account stores too many results; otherwise null. Test jobs cost nothing, so credits
 * do not limit them. Concurrent submits may exceed the limits by one job each.
 */
export async function findTestExcess(
  store: Store,
  { userId, totalUnits }: Pick<Job, 'userId' | 'totalUnits'>,
): Promise<Fault | null> {
  const { items } = await store.jobs.list(
    { userId, state: { in: openStates } },
    { limit: maxOpenJobs },
  );
  const open = items.reduce((sum, job) => sum + job.totalUnits, 0);
  const refuse = (message: string, retryAfterMs = openRetryMs) =>
    new Fault('rate_limited', message, { retryAfterMs });
  const wait = 'Wait until some have ended, or cancel them.';
  if (items.length >= maxOpenJobs)
    return refuse(
      `The test account has ${items.length} jobs that have not ended, ` +
        `the limit is ${maxOpenJobs}. ${wait}`,
    );
  if (open > 0 && open + totalUnits > maxOpenUnits)
    return refuse(
      `The test account has ${open} units in jobs that have not ended, ` +
        `and the limit with the ${totalUnits} of this job is ${maxOpenUnits}. ${wait}`,
    );
  const stored = await store.jobs.sumBytes(userId, 'results');
  if (stored < maxStoredBytes) return null;
  return refuse(
    `${storedText(stored)} Delete files of jobs, or wait for their deletion.`,
    storedRetryMs,
  );
}

const storedText = (bytes: number) =>
  `The results of the test account have ${bytes} bytes, the limit is ${maxStoredBytes}.`;

/** Throws `page_too_large` if the results of a test account exceed its storage quota. */
export async function requireTestSpace(
  store: Store,
  { userId, mode }: Pick<Job, 'userId' | 'mode'>,
): Promise<void> {
  if (mode !== 'test') return;
  const stored = await store.jobs.sumBytes(userId, 'results');
  if (stored >= maxStoredBytes) throw new Fault('page_too_large', storedText(stored));
}
