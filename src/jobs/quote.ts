import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { QuoteDelaySchema, QuoteSchema } from '../../gen/gleaner/job/v1/quote_pb.ts';
import { type Clock, timeOfDay } from '../base/clock.ts';
import { nextWithin } from '../base/working-hours.ts';
import { Fault, type Problem } from '../contract/fault.ts';
import { seriesOf } from '../contract/track.ts';
import { describePauseReason } from '../fetch/request-outcome.ts';
import type { Plan } from '../kinds/kind.ts';
import { parseHold, problemsOfHold } from '../quality/data-quality.ts';
import type { Backlog } from '../store/batch-store.ts';
import type { Job, Mode } from '../store/documents.ts';
import type { OriginPause } from '../store/origin-state.ts';
import { approvalWaitMs, type JobContext } from './context.ts';
import { chargedAt, estimate, findExcess, findShortfall } from './credits.ts';
import type { ResolvedJobType } from './job-types.ts';
import {
  estimateSeconds,
  missingOriginWarning,
  type PlannedOrigin,
  plannedOrigins,
} from './origins.ts';
import { notTracked } from './queries/item-changes.ts';
import { isOpen } from './queries/progress.ts';
import { recordFieldsOf } from './queries/rows.ts';
import { maxAgeMs, reusedPrice } from './reuse.ts';
import { findTestExcess } from './sandbox.ts';

/** Period of the measured durations of requests, in milliseconds. */
const measuredMs = 3_600_000;

/** The caller of a submit and its options. */
interface Caller extends Pick<Job, 'userId' | 'mode' | 'keyId' | 'options'> {
  /** True if kept pages are read again. Absent otherwise. */
  isReread?: boolean;
  /** True if an operator submits the job, which then needs no approval. Absent otherwise. */
  isApproved?: boolean;
}

/** Returns the quote of a planned job. Writes nothing. `warnings` are the plan's warnings. */
export async function quoteJob(
  context: JobContext,
  jobType: ResolvedJobType,
  plan: Plan,
  caller: Caller,
  warnings: readonly string[] = [],
): Promise<MessageInitShape<typeof QuoteSchema>> {
  const { kind, market } = jobType;
  const { mode, isReread = false, isApproved = false } = caller;
  const isTest = mode === 'test';
  const {
    totalUnits: units,
    totalBatches: batches,
    unitPrice,
    cost,
  } = estimate(context, jobType, plan, { mode, isReread });
  const refusals = await Array.fromAsync(
    findRefusals(context, jobType, { ...caller, cost, totalUnits: units }),
  );
  const balance = (await context.store.users.get(caller.userId))?.balance ?? 0;
  const quota = refusals.find(({ code }) => code === 'insufficient_credits')?.quota;
  const duplicates = findDuplicates(plan);
  const needsApproval = kind.approval && context.settings.approval && !isApproved;
  const missing = isTest || isReread ? null : missingOriginWarning(context, market, plan);
  return {
    market: market.name,
    kind: kind.name,
    accepted: refusals.length === 0,
    refusals: refusals.map(({ code, clientMessage }) => ({ code, message: clientMessage })),
    warnings: [
      ...warnings,
      ...duplicateWarning(duplicates.count),
      ...(missing === null ? [] : [missing]),
    ],
    units,
    duplicates: duplicates.count,
    duplicateUnits: duplicates.listed,
    batches,
    unitPrice,
    ...(maxAgeMs(caller.options) === null
      ? {}
      : { reusedUnitPrice: reusedPrice(context, unitPrice) }),
    cost,
    chargedAt: chargedAt(jobType, needsApproval),
    balance: BigInt(balance),
    balanceAfter: BigInt(balance - cost),
    shortfall: BigInt(quota === undefined ? 0 : quota.required - quota.current),
    overMaxCredits: refusals.some(({ code }) => code === 'max_credits_exceeded'),
    needsApproval,
    ...(await timing(context, jobType, plan, caller, needsApproval)),
  };
}

/**
 * Estimates when the work can begin, and how long it takes. Pauses of a marketplace do not affect
 * test jobs and rereads.
 */
async function timing(
  context: JobContext,
  jobType: ResolvedJobType,
  plan: Plan,
  { mode, isReread = false }: Caller,
  needsApproval: boolean,
): Promise<MessageInitShape<typeof QuoteSchema>> {
  const { store, clock, sharedCounts } = context;
  const isTest = mode === 'test';
  const [pauses, minutes, backlog] = await Promise.all([
    store.origins.listPauses(),
    store.originMinutes.find({ minute: { atLeast: clock.now() - measuredMs } }),
    sharedCounts.backlog(),
  ]);
  const origins = plannedOrigins(context, jobType, plan);
  const visiblePauses = isTest || isReread ? [] : pauses.map((pause) => shownPause(clock, pause));
  return {
    ...findStart(context, jobType, mode, origins, visiblePauses, needsApproval),
    durationSeconds: BigInt(estimateSeconds(context, jobType, origins, minutes)),
    durationIsMinimum: jobType.reader.sort === 'list',
    batchesAhead: countAhead(backlog, jobType.market.name),
  };
}

/** Counts the queued and claimed batches of a market. */
function countAhead(backlog: readonly Backlog[], market: string): number {
  let count = 0;
  for (const row of backlog) {
    if (row.market === market) count += row.queued + row.claimed;
  }
  return count;
}

/** Returns a pause with the time of day at which it ends. */
const shownPause = (clock: Clock, pause: OriginPause & { origin: string }) => ({
  ...pause,
  until: timeOfDay(clock, pause.until),
});

function duplicateWarning(count: number): string[] {
  if (count === 0) return [];
  return [
    count === 1
      ? 'One unit is the same as an earlier one. It is read and charged again.'
      : `${count} units are the same as earlier ones. They are read and charged again.`,
  ];
}

/** Maximum duplicate units listed in a quote. */
const maxListed = 20;

/**
 * Counts the units of a plan with the region and input of an earlier one, and lists the first units
 * that occur several times, in the order submitted.
 */
function findDuplicates({ groups }: Plan) {
  const firstByIdentity = new Map<string, { key: string; region: string; times: number }>();
  let count = 0;
  for (const { region, units } of groups) {
    for (const { key, input } of units) {
      const identity = `${region}\n${JSON.stringify(input)}`;
      const first = firstByIdentity.get(identity);
      if (first === undefined) firstByIdentity.set(identity, { key, region, times: 1 });
      else {
        first.times += 1;
        count += 1;
      }
    }
  }
  const repeated = [...firstByIdentity.values()].filter(({ times }) => times > 1);
  return { count, listed: repeated.slice(0, maxListed) };
}

/** Maximum paused origins listed in a quote. */
const maxPaused = 20;

/**
 * Returns what delays the start of a planned job, and when work can begin if it were approved now.
 */
function findStart(
  context: JobContext,
  { kind, market }: ResolvedJobType,
  mode: Mode,
  origins: readonly PlannedOrigin[],
  pauses: readonly (OriginPause & { origin: string })[],
  needsApproval: boolean,
): Pick<MessageInitShape<typeof QuoteSchema>, 'delays' | 'beginsAt'> {
  const { clock, settings } = context;
  const now = clock.now();
  const delays: MessageInitShape<typeof QuoteDelaySchema>[] = [];
  if (needsApproval) {
    const hours = approvalWaitMs / 3_600_000;
    const deadline = `It is rejected if undecided after ${hours} hours.`;
    delays.push({ reason: 'approval', message: `An operator must approve the job. ${deadline}` });
  }
  const isWaiting = !isOpen(context, { kind: kind.name, market: market.name, mode });
  const opensAt = isWaiting ? nextWithin(settings.workingHours!, now) : now;
  if (opensAt > now) {
    const message = 'Jobs of this kind start batches during working hours only.';
    delays.push({ reason: 'working_hours', until: timestampFromMs(opensAt), message });
  }
  const paused = new Map(
    pauses.filter(({ until }) => until > now).map((pause) => [pause.origin, pause]),
  );
  for (const { origin, region } of origins) {
    const pause = paused.get(origin);
    if (pause === undefined) continue;
    const name = region === '' ? origin : `${market.name}/${region}`;
    delays.push({
      reason: 'origin_paused',
      region,
      until: timestampFromMs(pause.until),
      message: `${name}: ${describePauseReason(pause.reason)}`,
    });
  }
  // Units of other origins begin during a pause.
  const resumesAt = Math.min(...origins.map(({ origin }) => paused.get(origin)?.until ?? now));
  const beginsAt = Math.max(opensAt, origins.length === 0 ? now : resumesAt);
  return { delays: delays.slice(0, maxPaused), beginsAt: timestampFromMs(beginsAt) };
}

/** `Retry-After` of a submission while the disk is almost full, in milliseconds. */
const diskRetryMs = 30_000;

/**
 * Yields the faults for which a job is refused, in the order in which a submission reports the
 * first of them.
 */
export async function* findRefusals(
  context: JobContext,
  jobType: ResolvedJobType,
  job: Pick<Job, 'userId' | 'mode' | 'keyId' | 'cost' | 'totalUnits' | 'options'>,
): AsyncGenerator<Fault> {
  const { disk, queue, store } = context;
  if (await disk.isLow()) {
    const message =
      'No jobs are accepted: the disk of the service is almost full. Nothing was charged.';
    yield new Fault('disk_full', message, { retryAfterMs: diskRetryMs });
  }
  const excess = job.mode === 'test' ? await findTestExcess(store, job) : null;
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

/**
 * Returns the fault for which a job is refused because of one of its options, or null. Problems are
 * in the query.
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
  return problems.length === 0
    ? null
    : new Fault('invalid', `hold: ${problems[0]!.msg}`, { problems });
};

/** Requires a job with the option `only` to be tracked. */
const checkOnly: OptionCheck = (_context, _offer, { options }) => {
  const needsTrack = options.only === 'changed' && seriesOf(options.track) === null;
  return needsTrack ? notTracked(['query', 'only']) : null;
};

/**
 * Checks of what the rules of the contract cannot express, in the order in which a submission
 * reports the first fault. A quote reports all of them.
 */
export const optionChecks: readonly OptionCheck[] = [
  checkHold,
  checkOnly,
  (context, _offer, job) => findUnknownDestination(context, job),
  ({ store }, _offer, job) => findExcess(store, job),
];

/**
 * Returns the fault of a submission that names destinations which its user does not have, or null.
 */
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

/** Finds the destinations that the option `deliver_to` of a job names, by name or id. */
export async function readDestinations(
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
