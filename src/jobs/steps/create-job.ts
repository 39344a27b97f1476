import { requireSandbox } from '../../access/test-account.ts';
import { Fault, type Problem } from '../../contract/fault.ts';
import type { JobOptions } from '../../contract/submit-options.ts';
import { seriesOf } from '../../contract/track.ts';
import type { Plan } from '../../kinds/kind.ts';
import type { Batch } from '../../store/batches.ts';
import type { Job, Mode } from '../../store/documents.ts';
import { dueOnEntry } from '../../store/job-states.ts';
import { nextNumber } from '../../store/submissions.ts';
import { approvalWaitMs, type JobContext } from '../context.ts';
import { findExcess, findShortfall } from '../credits.ts';
import type { ResolvedJobType } from '../job-types.ts';
import { keepPagesMs } from '../kept-pages.ts';
import { type Estimate, estimate } from '../prices.ts';
import { parseHold, problemsOfHold } from '../quality.ts';
import { notTracked } from '../queries/changed.ts';
import { recordFieldsOf } from '../queries/rows.ts';
import { maxAgeMs, reusedPrice } from '../reuse.ts';
import { findTestExcess, sandboxQueue, testDecisionMs } from '../sandbox.ts';

/** `Retry-After` of a submission while the disk is almost full, in milliseconds. */
const diskRetryMs = 30_000;

/** Properties of a job to create. */
export interface JobDraft {
  jobId: string;
  /** Owner of the job, whose account is charged. */
  userId: string;
  /** Mode of the owner's account. */
  mode: Mode;
  /** Key whose credit ceiling the job counts against. Null if there is none. */
  keyId: string | null;
  /** Returns the units. Not called if the job already exists. */
  plan(): Plan | Promise<Plan>;
  retryOf: string | null;
  rereadOf: string | null;
  schedule: Job['schedule'];
  /** The operator who approved the job in advance. Null if its kind decides whether it awaits approval. */
  approvedBy: string | null;
  /** True if a repeated call resumes this job. */
  resumable: boolean;
  options: JobOptions;
}

/** Returns a job and its batches, to be written, if the service and the user's balance allow it. */
export async function prepareJob(
  context: JobContext,
  jobType: ResolvedJobType,
  draft: JobDraft,
): Promise<{ job: Job; batches: Iterable<Batch> }> {
  if (draft.mode === 'test') requireSandbox(context.settings);
  const plan = await draft.plan();
  const size = estimate(context, jobType, plan, { ...draft, isReread: draft.rereadOf !== null });
  for await (const refusal of findRefusals(context, jobType, { ...draft, ...size })) throw refusal;
  const options = withDefaults(context, jobType, draft, await withDestinationIds(context, draft));
  const job = await buildJob(context, jobType, plan, size, { ...draft, options });
  return { job, batches: buildBatches(context, jobType, plan, job) };
}

/**
 * Yields the faults for which a job is refused, in the order in which a submission reports the first of them.
 */
export async function* findRefusals(
  context: JobContext,
  jobType: ResolvedJobType,
  job: Pick<Job, 'userId' | 'mode' | 'keyId' | 'cost' | 'totalUnits' | 'options'>,
): AsyncGenerator<Fault> {
  const { disk, queue, store } = context;
  if (await disk.isLow()) {
    const message = 'No jobs are accepted: the disk of the service is almost full. Nothing was charged.';
    yield new Fault('disk_full', message, { retryAfterMs: diskRetryMs });
  }
  const excess = await findTestExcess(store, job);
  if (excess !== null) yield excess;
  for (const check of optionChecks) {
    const fault = await check(context, jobType, job);
    if (fault !== null) yield fault;
  }
  const shortfall = await findShortfall(store, job);
  if (shortfall !== null) yield shortfall;
  if (jobType.kind.unqueued !== 'refuse') return;
  const unavailable = await queue.ping().then(() => null, Fault.from);
  if (unavailable !== null) yield unavailable;
}

async function buildJob(
  context: JobContext,
  jobType: ResolvedJobType,
  plan: Plan,
  size: Estimate,
  { jobId: id, userId, keyId, mode, retryOf, rereadOf, schedule, approvedBy, resumable, options }: JobDraft,
): Promise<Job> {
  const { kind, market } = jobType;
  const now = context.clock.now();
  const keepMs = keepPagesMs(options);
  const awaitsApproval = kind.approval && context.settings.approval && !approvedBy;
  const isTest = mode === 'test';
  return {
    id,
    number: kind.sequence === undefined ? null : await nextNumber(context.store, kind.sequence),
    userId,
    keyId,
    mode,
    market: market.name,
    kind: kind.name,
    region: plan.region,
    lane: kind.lane,
    state: 'submitted',
    stateSince: now,
    dueAt: dueOnEntry({ state: 'submitted', decideBy: null }, now),
    params: plan.params,
    options,
    ...size,
    reusedUnitPrice: maxAgeMs(options) === null ? null : reusedPrice(context, size.unitPrice),
    refunded: 0,
    createdAt: now,
    resumable,
    decideBy: awaitsApproval ? now + (isTest ? testDecisionMs(plan) : approvalWaitMs) : null,
    decidedBy: approvedBy,
    reason: '',
    startedAt: null,
    finishedAt: null,
    file: null,
    retryOf,
    rereadOf,
    schedule,
    counts: null,
    hold: null,
    noticeDue: null,
    noticeAt: null,
    filesDeletedAt: null,
    fileDeletionDue: false,
    pagesUntil: keepMs === null ? null : now + keepMs,
  };
}

function* buildBatches(
  context: JobContext,
  { kind, market }: ResolvedJobType,
  plan: Plan,
  job: Job,
): Generator<Batch> {
  let seq = 0;
  for (const { region, units } of plan.groups) {
    for (let start = 0; start < units.length; start += kind.batchSize) {
      yield {
        id: context.newId(),
        jobId: job.id,
        seq: seq++,
        market: job.mode === 'test' ? sandboxQueue : market.name,
        region,
        lane: kind.lane,
        units: units.slice(start, start + kind.batchSize),
        outcomes: {},
        success: 0,
        failed: 0,
        state: 'waiting',
        attempt: 0,
        queuedAt: null,
        publishedAt: null,
        leaseUntil: null,
        notBefore: null,
        file: null,
        segments: [],
        pages: null,
        endedAt: null,
        stalledClaims: 0,
        storedBytes: 0,
        wait: null,
        isolated: null,
      };
    }
  }
}

/**
 * Returns the fault for which a job is refused because of one of its options, or null. Problems are in the
 * query.
 */
type OptionCheck = (
  context: JobContext,
  jobType: ResolvedJobType,
  job: Pick<Job, 'userId' | 'cost' | 'options'>,
) => Fault | null | Promise<Fault | null>;

/** Requires the fields that the option `hold` names to be fields of the records. */
const checkHold: OptionCheck = (_context, jobType, { options }) => {
  const problems = problemsOfHold(parseHold(options.hold ?? ''), recordFieldsOf(jobType)).map(
    (msg): Problem => ({ loc: ['query', 'hold'], msg, type: 'value_error' }),
  );
  return problems.length === 0 ? null : new Fault('invalid', `hold: ${problems[0]!.msg}`, { problems });
};

/** Requires a job with the option `only` to be tracked. */
const checkOnly: OptionCheck = (_context, _offer, { options }) => {
  const needsTrack = options.only === 'changed' && seriesOf(options.track) === null;
  return needsTrack ? notTracked(['query', 'only']) : null;
};

/**
 * Checks of what the rules of the contract cannot express, in the order in which a submission reports the
 * first fault. A quote reports all of them.
 */
export const optionChecks: readonly OptionCheck[] = [
  checkHold,
  checkOnly,
  (context, _offer, job) => findUnknownDestination(context, job),
  (_context, _offer, job) => findExcess(job),
];

/** Returns the fault of a submission that names destinations which its user does not have, or null. */
async function findUnknownDestination(
  context: JobContext,
  job: Pick<Job, 'userId' | 'options'>,
): Promise<Fault | null> {
  const { unknown } = await readDestinations(context, job);
  if (unknown.length === 0) return null;
  const problems = unknown.map((value): Problem => {
    const msg = `'${value}' is not the id or name of one of your destinations`;
    return { loc: ['query', 'deliver_to'], msg, type: 'value_error' };
  });
  return new Fault('invalid', `deliver_to: ${problems[0]!.msg}`, { problems });
}

/** Returns the options of a job with the ids of its destinations instead of their names. */
async function withDestinationIds(
  context: JobContext,
  job: Pick<Job, 'userId' | 'options'>,
): Promise<JobOptions> {
  const { deliverTo: _, ...others } = job.options;
  const { ids } = await readDestinations(context, job);
  return ids.length === 0 ? others : { ...others, deliverTo: ids.join(',') };
}

/** Adds the defaults that the marketplace has for options. */
function withDefaults(
  { settings }: JobContext,
  { market }: ResolvedJobType,
  { mode, rereadOf }: Pick<JobDraft, 'mode' | 'rereadOf'>,
  options: JobOptions,
): JobOptions {
  const keepPages = settings.origins.get(market.name)?.keepPages;
  if (keepPages === undefined || mode === 'test' || rereadOf !== null) return options;
  return { keepPages, ...options };
}

async function readDestinations(
  { store }: JobContext,
  { userId, options: { deliverTo = '' } }: Pick<Job, 'userId' | 'options'>,
): Promise<{ ids: string[]; unknown: string[] }> {
  if (deliverTo === '') return { ids: [], unknown: [] };
  const destinations = await store.destinations.find({ userId });
  const ids = new Set<string>();
  const unknown = new Set<string>();
  for (const value of deliverTo.split(',')) {
    const found =
      destinations.find(({ name }) => name === value) ??
      destinations.find(({ id }) => id === value.toLowerCase());
    if (found === undefined) unknown.add(value);
    else ids.add(found.id);
  }
  return { ids: [...ids], unknown: [...unknown] };
}
