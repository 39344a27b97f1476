import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { QuoteSchema } from '../../../gen/gleaner/job/v1/quote_pb.ts';
import type { JobOptions } from '../../contract/submit-options.ts';
import type { Plan } from '../../kinds/kind.ts';
import type { Mode } from '../../store/documents.ts';
import type { JobContext, StoreUse } from '../context.ts';
import type { Offer } from '../offers.ts';
import { chargedAt, estimate } from '../prices.ts';
import { maxAgeMs, reusedPrice } from '../reuse.ts';
import { missingOriginWarning } from '../steps/missing-origins.ts';
import { findRefusals, type RefusalContext } from '../steps/place.ts';
import { findStart } from './delays.ts';
import { findDuplicates } from './duplicates.ts';
import { estimateSeconds, plannedOrigins } from './origins.ts';

/** Dependencies of quoteJob(). */
export type QuoteContext = Pick<JobContext, 'clock' | 'settings'> &
  StoreUse<'countBacklog' | 'getUser' | 'listOriginMinutes' | 'listPauses'> &
  RefusalContext;

/** Period of the measured durations of requests, in milliseconds. */
const measuredMs = 3_600_000;

/** The caller of a submit and its options. */
interface Caller {
  userId: string;
  mode: Mode;
  keyId: string | null;
  options: JobOptions;
}

/** Returns the quote of a planned job. Writes nothing. `warnings`: those of the plan. */
export async function quoteJob(
  context: QuoteContext,
  offer: Offer,
  plan: Plan,
  caller: Caller,
  warnings: readonly string[] = [],
): Promise<MessageInitShape<typeof QuoteSchema>> {
  const { kind, market } = offer;
  const isTest = caller.mode === 'test';
  const {
    totalUnits: units,
    totalBatches: batches,
    unitPrice,
    cost,
  } = estimate(context, offer, plan, caller.mode);
  const refusals = await Array.fromAsync(
    findRefusals(context, offer, { ...caller, cost, totalUnits: units }),
  );
  const balance = (await context.store.getUser(caller.userId))?.balance ?? 0;
  const quota = refusals.find(({ code }) => code === 'insufficient_credits')?.quota;
  const duplicates = findDuplicates(plan);
  const needsApproval = kind.approval && context.settings.approval;
  const missing = isTest ? null : missingOriginWarning(context, market, plan);
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
    chargedAt: chargedAt(offer, needsApproval),
    balance: BigInt(balance),
    balanceAfter: BigInt(balance - cost),
    shortfall: BigInt(quota === undefined ? 0 : quota.required - quota.current),
    overMaxCredits: refusals.some(({ code }) => code === 'max_credits_exceeded'),
    needsApproval,
    ...(await timing(context, offer, plan, { needsApproval, isTest })),
  };
}

/** Returns when the work can begin, and how long it takes. Test jobs wait for no marketplace. */
async function timing(
  { store, clock, settings }: QuoteContext,
  offer: Offer,
  plan: Plan,
  { needsApproval, isTest }: { needsApproval: boolean; isTest: boolean },
): Promise<MessageInitShape<typeof QuoteSchema>> {
  const [pauses, minutes, backlog] = await Promise.all([
    store.listPauses(),
    store.listOriginMinutes(clock.now() - measuredMs),
    store.countBacklog(),
  ]);
  const origins = plannedOrigins({ settings }, offer, plan);
  const { delays, beginsAt } = findStart(
    { clock, settings: isTest ? { ...settings, workingHours: null } : settings },
    offer,
    origins,
    isTest ? [] : pauses,
    needsApproval,
  );
  return {
    delays: delays.map(({ until, ...delay }) => ({
      ...delay,
      ...(until === null ? {} : { until: timestampFromMs(until) }),
    })),
    beginsAt: timestampFromMs(beginsAt),
    durationSeconds: BigInt(estimateSeconds({ settings }, offer, origins, minutes)),
    durationIsMinimum: offer.reader.sort === 'list',
    batchesAhead: backlog
      .filter((row) => row.market === offer.market.name)
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
