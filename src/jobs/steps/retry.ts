import {
  create,
  type DescMethod,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import type { QuoteSchema } from '../../../gen/gleaner/job/v1/quote_pb.ts';
import { idFromName } from '../../base/id.ts';
import { Fault, type Problem } from '../../contract/fault.ts';
import { isFinalFailure } from '../../contract/final-failure.ts';
import { type JobOptions, jobOptionsOf, retryOptionsOf } from '../../contract/submit-options.ts';
import { inOrder } from '../../kinds/items.ts';
import type { Plan } from '../../kinds/kind.ts';
import type { Unit } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import { isChargeVoid } from '../credits.ts';
import { mayHoldFailed, readIndexedBatches, unitsOf } from '../indexed-units.ts';
import { requirePages } from '../kept-pages.ts';
import { noJob } from '../queries/read.ts';
import { type FaultGroup, groupFaults } from '../queries/units.ts';
import { quoteJob } from '../quote.ts';
import {
  abandonSubmission,
  beginSubmission,
  completeSubmission,
  type SubmitCall,
  type Submitter,
} from './idempotency.ts';
import { placeJob } from './submit.ts';

/** How a new job is derived from an ended one. */
interface Derivation {
  /** Field of the new job with the id of the ended one. */
  of: 'retryOf' | 'rereadOf';
  /** The derivation in messages: "retry", "retried", and "retries the failed units". */
  words: { noun: string; done: string; does: string };
  /** Throws `conflict` if the ended job cannot be derived from. */
  check(context: JobContext, source: Job): void;
  /** Returns the units of the new job. */
  groups(context: JobContext, source: Job): Promise<Plan['groups']>;
  /** Returns the options of the new job. Throws `invalid`. */
  optionsOf(source: Job, options: Submitter['options']): JobOptions;
  /** Returns a warning about the new job, or null. */
  warning(context: JobContext, source: Job): Promise<string | null>;
}

const retryDerivation: Derivation = {
  of: 'retryOf',
  words: { noun: 'retry', done: 'retried', does: 'retries the failed units' },
  check(_context, { counts }) {
    // An ended job has counts.
    if (counts!.units.failed === 0) throw new Fault('conflict', 'No unit of the job has failed.');
  },
  groups: failedUnits,
  optionsOf: (source, options) => retryOptionsOf(source.options, options),
  warning: retryWarning,
};

/**
 * Submits the failed units of an ended job again as a new job, in their order: only units whose
 * failure is not final, at the current unit price. Throws `conflict` for a job without a unit to
 * retry, and the faults of deriveJob().
 */
export const retry: DeriveJob = deriveJob(retryDerivation);

/** Derives a job: see deriveJob(). */
export type DeriveJob = <M extends DescMethod>(
  context: JobContext,
  method: M,
  request: Message,
  submitter: Submitter,
  source: Job,
  approvedBy: string | null,
  respond: (job: Job) => Promise<MessageInitShape<M['output']>>,
) => Promise<MessageShape<M['output']>>;

/**
 * Creates a function that derives a new job from an ended one, with the same owner, kind,
 * marketplace and parameters. The new job awaits approval if its kind does, unless an operator,
 * `approvedBy`, derives it. Concurrent calls create one job, as do calls under one idempotency key.
 * The function returns the response that `respond` builds from the new job. It throws `conflict`
 * for a job that has not ended, or has another such job that is running; `insufficient_credits`;
 * `max_credits_exceeded`; those of the derivation and of beginSubmission(). After a fault nothing
 * is charged. With the option `validate_only`, it returns the quote of the new job, and writes
 * nothing.
 */
function deriveJob(derivation: Derivation): DeriveJob {
  return async (context, method, request, submitter, source, approvedBy, respond) => {
    const jobId = await nextDerivedId(context, derivation, source);
    if (submitter.options?.validateOnly) {
      const isApproved = approvedBy !== null;
      const quote = await quoteDerived(context, derivation, source, submitter, {
        jobId,
        isApproved,
      });
      return create(method.output, { quote }) as never;
    }
    const submission = await beginSubmission(context, method, request, submitter, jobId);
    if (submission.response !== null) return submission.response;
    try {
      const job = await placeDerived(
        context,
        derivation,
        source,
        submission,
        submitter,
        approvedBy,
      );
      return await completeSubmission(context, submission, await respond(job));
    } catch (error) {
      await abandonSubmission(context, submission);
      throw error;
    }
  };
}

/** Returns the newest job derived from a job that was not discarded. */
async function lastDerived(
  { store }: JobContext,
  { of }: Derivation,
  { id }: Job,
): Promise<Job | undefined> {
  const { items } = await store.jobs.list({ [of]: id }, { limit: 10 });
  return items.find(({ state }) => state !== 'discarding');
}

/**
 * Returns the id of the next job derived from a job. Concurrent calls get the same id, so that they
 * create one job.
 */
async function nextDerivedId(
  context: JobContext,
  derivation: Derivation,
  source: Job,
): Promise<string> {
  const { store } = context;
  const idAfter = (id: string) =>
    idFromName(`${derivation.words.noun} of ${source.id} after ${id}`);
  let next = idAfter((await lastDerived(context, derivation, source))?.id ?? 'none');
  // The id of a discarded or deleted job cannot be used again.
  while ((await isChargeVoid(store, next)) || (await store.deletedJobs.get(next)) !== null)
    next = idAfter(next);
  return next;
}

/** Returns the quote of a derived job. Faults as for the job. */
async function quoteDerived(
  context: JobContext,
  derivation: Derivation,
  source: Job,
  { keyId, options }: Submitter,
  { jobId, isApproved }: { jobId: string; isApproved: boolean },
): Promise<MessageInitShape<typeof QuoteSchema>> {
  await findRunning(context, derivation, source, jobId);
  const plan = await planDerived(context, derivation, source);
  const warning = await derivation.warning(context, source);
  const derivedOptions = {
    options: derivation.optionsOf(source, options),
    isReread: derivation.of === 'rereadOf',
  };
  const caller = {
    // The owner of the job pays, also if an operator derives it.
    userId: source.userId,
    mode: source.mode,
    keyId,
    isApproved,
    ...derivedOptions,
  };
  return quoteJob(
    context,
    context.jobTypes.of(source),
    plan,
    caller,
    warning === null ? [] : [warning],
  );
}

/**
 * Returns an interrupted job that was derived from a job, which is resumed. Throws `conflict` if no
 * job can be derived now.
 */
async function findRunning(
  context: JobContext,
  derivation: Derivation,
  source: Job,
  jobId: string,
): Promise<Job | undefined> {
  const { words, check } = derivation;
  if (source.finishedAt === null) {
    const problem = `The job has not ended: it is ${source.state}.`;
    throw new Fault('conflict', `${problem} Only ended jobs can be ${words.done}.`);
  }
  check(context, source);
  const last = await lastDerived(context, derivation, source);
  const other = last?.finishedAt === null && last.id !== jobId ? last : undefined;
  if (other !== undefined && other.state !== 'submitted')
    throw new Fault('conflict', `The job ${other.id} ${words.does} and has not ended.`);
  return other;
}

/** Returns the plan of the new job. Throws `conflict` if there are no units to derive. */
async function planDerived(
  context: JobContext,
  derivation: Derivation,
  source: Job,
): Promise<Plan> {
  const groups = await derivation.groups(context, source);
  // The batches read may be incomplete.
  if ((await context.store.jobs.get(source.id)) === null) throw noJob(source.id);
  if (groups.length === 0)
    throw new Fault(
      'conflict',
      `A ${derivation.words.noun} cannot succeed. ${await derivation.warning(context, source)}`,
    );
  return { groups, region: source.region, params: source.params };
}

/** Creates the new job, or resumes one that an interrupted call created. */
async function placeDerived(
  context: JobContext,
  derivation: Derivation,
  source: Job,
  submission: SubmitCall<DescMethod>,
  { keyId, options }: Submitter,
  approvedBy: string | null,
): Promise<Job> {
  const { store, jobTypes } = context;
  const { id, userId, mode } = source;
  const other = await findRunning(context, derivation, source, submission.jobId);
  const draft = {
    jobId: other?.id ?? submission.jobId,
    userId,
    mode,
    keyId,
    plan: () => planDerived(context, derivation, source),
    retryOf: null,
    rereadOf: null,
    [derivation.of]: id,
    schedule: null,
    approvedBy,
    // Repeating the call gives the same job id, with or without an idempotency key.
    resumable: true,
    options: derivation.optionsOf(source, options),
  };
  const job = await placeJob(context, jobTypes.of(source), draft, submission);
  // Read again, because batches may have been dispatched.
  return (await store.jobs.get(job.id)) ?? job;
}

/** Returns the failed units of a job whose failure is not final, in their order. */
async function failedUnits(context: JobContext, source: Job): Promise<Plan['groups']> {
  const failed: { unit: Unit; region: string }[] = [];
  for await (const indexedBatch of readIndexedBatches(
    context.store,
    source.id,
    mayHoldFailed(source),
  )) {
    for (const { unit, region, outcome } of unitsOf(source, indexedBatch))
      if (outcome?.status === 'FAILED' && !isFinalFailure(outcome.code))
        failed.push({ unit, region });
  }
  return inOrder(failed);
}

/**
 * Returns what to say of the failed units that a retry leaves out, or null if it leaves out none.
 */
export async function retryWarning(context: JobContext, source: Job): Promise<string | null> {
  const groups = await groupFaults(context, source);
  const final = groups.filter(({ code }) => isFinalFailure(code));
  if (final.length === 0) return null;
  const failedCount = countUnits(groups);
  const retriedCount = failedCount - countUnits(final);
  const codes = final.map(({ code, units }) => `${units} ${code}`).join(', ');
  if (retriedCount === 0) return `Every failure is final: ${codes}.`;
  const retried = `${retriedCount} of ${failedCount} failed units are retried.`;
  return `${retried} The failure of the others is final: ${codes}.`;
}

const countUnits = (groups: readonly FaultGroup[]): number =>
  groups.reduce((total, { units }) => total + units, 0);

const rereadDerivation: Derivation = {
  of: 'rereadOf',
  words: { noun: 'reread', done: 'reread', does: 'rereads the pages' },
  check: ({ clock }, source) => requirePages(source, clock.now()),
  async groups({ store }, source) {
    const groups = [];
    // A batch each, whose units have the indexes of those whose pages are kept.
    for await (const { region, units } of store.batches.read(source.id))
      groups.push({ region, units });
    return groups;
  },
  optionsOf: (source, options) => rereadOptionsOf(source.options, options),
  warning: async () => null,
};

/**
 * Reads the kept pages of an ended job with the current readers, in a new job with the same units,
 * at the price of reused results. No request is sent to the site. Throws `conflict` for a job
 * without kept pages, `invalid` for an option that a reread cannot have, and the faults of
 * deriveJob().
 */
export const reread: DeriveJob = deriveJob(rereadDerivation);

/**
 * Options that concern the reading of pages, or the time at which they are read, by their contract
 * name.
 */
const readingOptions = {
  max_age: 'maxAge',
  keep_pages: 'keepPages',
  track: 'track',
  only: 'only',
} as const;

/**
 * Returns the options of a reread: those of the call, and the name of the first job. Throws
 * `invalid`.
 */
function rereadOptionsOf({ name }: JobOptions, options: Submitter['options']): JobOptions {
  const jobOptions = jobOptionsOf(options);
  const problems = Object.entries(readingOptions)
    .filter(([, option]) => jobOptions[option])
    .map(([field]): Problem => {
      const msg = 'a reread cannot have this option: it reads kept pages';
      return { loc: ['query', field], msg, type: 'value_error' };
    });
  const [first] = problems;
  if (first !== undefined)
    throw new Fault('invalid', `${first.loc[1]}: ${first.msg}`, { problems });
  return { ...(name === undefined ? {} : { name }), ...jobOptions };
}
