import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { QuoteDuplicateSchema, QuoteSchema } from '../../../gen/gleaner/job/v1/quote_pb.ts';
import type { JobOptions } from '../../contract/submit-options.ts';
import type { Plan } from '../../kinds/kind.ts';
import type { Mode } from '../../store/documents.ts';
import type { JobContext } from '../context.ts';
import type { ResolvedJobType } from '../job-types.ts';
import { chargedAt, estimate } from '../prices.ts';
import { maxAgeMs, reusedPrice } from '../reuse.ts';
import { findRefusals } from '../steps/create-job.ts';
import { findStart } from './delays.ts';
import { estimateSeconds, missingOriginWarning, plannedOrigins } from './origins.ts';

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
    ...(await timing(context, jobType, plan, { needsApproval, isTest, isReread })),
  };
}

/** Returns when the work can begin, and how long it takes. Test jobs and rereads wait for no marketplace. */
async function timing(
  { store, clock, settings }: JobContext,
  jobType: ResolvedJobType,
  plan: Plan,
  { needsApproval, isTest, isReread }: Record<'needsApproval' | 'isTest' | 'isReread', boolean>,
): Promise<MessageInitShape<typeof QuoteSchema>> {
  const [pauses, minutes, backlog] = await Promise.all([
    store.origins.listPauses(),
    store.originMinutes.find({ minute: { atLeast: clock.now() - measuredMs } }),
    store.batches.countBacklog(),
  ]);
  const origins = plannedOrigins({ settings }, jobType, plan);
  const { delays, beginsAt } = findStart(
    { clock, settings: isTest ? { ...settings, workingHours: null } : settings },
    jobType,
    origins,
    isTest || isReread ? [] : pauses,
    needsApproval,
  );
  return {
    delays: delays.map(({ until, ...delay }) => ({
      ...delay,
      ...(until === null ? {} : { until: timestampFromMs(until) }),
    })),
    beginsAt: timestampFromMs(beginsAt),
    durationSeconds: BigInt(estimateSeconds({ settings }, jobType, origins, minutes)),
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

/** Units of a plan that are the same as an earlier one. */
export interface Duplicates {
  count: number;
  /** The first units that occur several times, in the order submitted. */
  listed: MessageInitShape<typeof QuoteDuplicateSchema>[];
}

/** Finds units of a plan with the same region and input. */
function findDuplicates({ groups }: Pick<Plan, 'groups'>): Duplicates {
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
