import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { QuoteDelaySchema, QuoteSchema } from '../../gen/gleaner/job/v1/quote_pb.ts';
import { nextWithin } from '../base/working-hours.ts';
import type { JobOptions } from '../contract/submit-options.ts';
import { describePauseReason } from '../fetch/request-outcome.ts';
import type { Plan } from '../kinds/kind.ts';
import type { Mode } from '../store/documents.ts';
import type { OriginPause } from '../store/origin-state.ts';
import { approvalWaitMs, type JobContext } from './context.ts';
import type { ResolvedJobType } from './job-types.ts';
import { estimateSeconds, missingOriginWarning, type PlannedOrigin, plannedOrigins } from './origins.ts';
import { chargedAt, estimate } from './prices.ts';
import { isOpen } from './queries/progress.ts';
import { maxAgeMs, reusedPrice } from './reuse.ts';
import { findRefusals } from './steps/create-job.ts';

/** Period of the measured durations of requests, in milliseconds. */
const measuredMs = 3_600_000;

/** The caller of a submit and its options. */
interface Caller {
  userId: string;
  mode: Mode;
  keyId: string | null;
  options: JobOptions;
  /** True if kept pages are read again. Absent otherwise. */
  isReread?: boolean;
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
  const { mode, isReread = false } = caller;
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
  const needsApproval = kind.approval && context.settings.approval;
  const missing = isTest || isReread ? null : missingOriginWarning(context, market, plan);
  return {
    market: market.name,
    kind: kind.name,
    accepted: refusals.length === 0,
    refusals: refusals.map(({ code, clientMessage }) => ({ code, message: clientMessage })),
    warnings: [...warnings, ...duplicateWarning(duplicates.count), ...(missing === null ? [] : [missing])],
    units,
    duplicates: duplicates.count,
    duplicateUnits: duplicates.listed,
    batches,
    unitPrice,
    ...(maxAgeMs(caller.options) === null ? {} : { reusedUnitPrice: reusedPrice(context, unitPrice) }),
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

/** Returns when the work can begin, and how long it takes. Test jobs and rereads wait for no marketplace. */
async function timing(
  context: JobContext,
  jobType: ResolvedJobType,
  plan: Plan,
  { mode, isReread = false }: Caller,
  needsApproval: boolean,
): Promise<MessageInitShape<typeof QuoteSchema>> {
  const { store, clock } = context;
  const isTest = mode === 'test';
  const [pauses, minutes, backlog] = await Promise.all([
    store.origins.listPauses(),
    store.originMinutes.find({ minute: { atLeast: clock.now() - measuredMs } }),
    store.batches.countBacklog(clock.now()),
  ]);
  const origins = plannedOrigins(context, jobType, plan);
  const known = isTest || isReread ? [] : pauses;
  return {
    ...findStart(context, jobType, mode, origins, known, needsApproval),
    durationSeconds: BigInt(estimateSeconds(context, jobType, origins, minutes)),
    durationIsMinimum: jobType.reader.sort === 'list',
    batchesAhead: backlog
      .filter((row) => row.market === jobType.market.name)
      .reduce((sum, { queued, claimed }) => sum + queued + claimed, 0),
  };
}

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
 * Counts the units of a plan with the region and input of an earlier one, and lists the first units that
 * occur several times, in the order submitted.
 */
function findDuplicates({ groups }: Plan) {
  const known = new Map<string, { key: string; region: string; times: number }>();
  let count = 0;
  for (const { region, units } of groups) {
    for (const { key, input } of units) {
      const identity = `${region}\n${JSON.stringify(input)}`;
      const first = known.get(identity);
      if (first === undefined) known.set(identity, { key, region, times: 1 });
      else {
        first.times += 1;
        count += 1;
      }
    }
  }
  const repeated = [...known.values()].filter(({ times }) => times > 1);
  return { count, listed: repeated.slice(0, maxListed) };
}

/** Maximum paused origins listed in a quote. */
const maxPaused = 20;

/** Returns what delays the start of a planned job, and when work can begin if it were approved now. */
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
    const message = `An operator must approve the job. It is rejected if undecided after ${approvalWaitMs / 3_600_000} hours.`;
    delays.push({ reason: 'approval', message });
  }
  const isWaiting = !isOpen(context, { kind: kind.name, market: market.name, mode });
  const opensAt = isWaiting ? nextWithin(settings.workingHours!, now) : now;
  if (opensAt > now) {
    const message = 'Jobs of this kind start batches during working hours only.';
    delays.push({ reason: 'working_hours', until: timestampFromMs(opensAt), message });
  }
  const paused = new Map(pauses.filter(({ until }) => until > now).map((pause) => [pause.origin, pause]));
  for (const { origin, region } of origins) {
    const pause = paused.get(origin);
    if (pause === undefined) continue;
    const name = region === '' ? origin : `${market.name}/${region}`;
    const message = `${name}: ${describePauseReason(pause.reason)}`;
    delays.push({ reason: 'origin_paused', region, until: timestampFromMs(pause.until), message });
  }
  // Units of other origins begin during a pause.
  const resumesAt = Math.min(...origins.map(({ origin }) => paused.get(origin)?.until ?? now));
  const beginsAt = Math.max(opensAt, origins.length === 0 ? now : resumesAt);
  return { delays: delays.slice(0, maxPaused), beginsAt: timestampFromMs(beginsAt) };
}
