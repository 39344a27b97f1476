import type { DescMethod } from '@bufbuild/protobuf';
import { Step } from '../../gen/gleaner/options/v1/options_pb.ts';
import { maxBodyBytes } from '../contract/body-limit.ts';
import { Fault } from '../contract/fault.ts';
import { quote } from '../contract/problem-texts.ts';
import { rulesOf } from '../contract/rules.ts';
import { didYouMean } from '../contract/suggest.ts';
import type { Plan } from '../kinds/kind.ts';
import type { Job, LedgerEntry, Mode } from '../store/documents.ts';
import { isCharged } from '../store/job-states.ts';
import type { SpentCeiling } from '../store/ledger.ts';
import type { Store } from '../store/store.ts';
import type { JobContext } from './context.ts';
import type { JobTypes, ResolvedJobType } from './job-types.ts';
import { reusedPrice } from './reuse.ts';

/**
 * Returns the credits per unit of a job type: as configured, otherwise the market's price,
 * otherwise the kind's.
 */
function unitPrice(
  { settings: { prices } }: JobContext,
  { kind, market }: ResolvedJobType,
): number {
  return (
    prices.get(`${market.name}.${kind.name}`) ??
    prices.get(kind.name) ??
    market.prices?.[kind.page] ??
    kind.price
  );
}

/**
 * Returns one sentence about a configured price that applies to no job type, or null if there is
 * none.
 */
export function findUnknownPrice(
  prices: ReadonlyMap<string, number>,
  { methods }: JobTypes,
): string | null {
  const kindNames = new Set(
    [...methods.values()].flatMap(({ jobType, market }) =>
      jobType === null ? [] : [jobType.kind.name, `${market.name}.${jobType.kind.name}`],
    ),
  );
  const unknown = [...prices.keys()].find((name) => !kindNames.has(name));
  if (unknown === undefined) return null;
  return `no job has the kind ${quote(unknown)}.${didYouMean(unknown, kindNames)}`;
}

/** Returns the credits per unit of a job type's job. Test jobs cost nothing. */
export function unitPriceIn(mode: Mode, context: JobContext, jobType: ResolvedJobType): number {
  return mode === 'test' ? 0 : unitPrice(context, jobType);
}

/** Size and price of a planned job. */
export type Estimate = Pick<Job, 'totalUnits' | 'totalBatches' | 'unitPrice' | 'cost'>;

/** Returns the size and the price of a planned job. A reread has the price of reused results. */
export function estimate(
  context: JobContext,
  jobType: ResolvedJobType,
  { groups }: Plan,
  { mode, isReread }: { mode: Mode; isReread: boolean },
): Estimate {
  const { batchSize } = jobType.kind;
  const totalUnits = groups.reduce((sum, { units }) => sum + units.length, 0);
  const full = unitPriceIn(mode, context, jobType);
  const price = isReread ? reusedPrice(context, full) : full;
  return {
    totalUnits,
    totalBatches: groups.reduce((sum, { units }) => sum + Math.ceil(units.length / batchSize), 0),
    unitPrice: price,
    cost: price * totalUnits,
  };
}

/** Price and limits of a job type. */
export interface KindPrice {
  market: string;
  kind: string;
  /** Credits per unit. */
  unitPrice: number;
  method: DescMethod;
  chargedAt: 'submit' | 'approval';
  needsApproval: boolean;
  inWorkingHours: boolean;
  regions: readonly string[];
  /** Credits for a unit whose result is reused. */
  reusedUnitPrice: number;
  /** Maximum units of one submission. */
  maxUnits: number;
  maxBatchUnits: number;
  maxBodyBytes: number;
}

/** Lists the current price and the limits of every job type that can be submitted. */
export function listKindPrices(context: JobContext): KindPrice[] {
  const { approval, workingHours } = context.settings;
  return [...context.jobTypes.methods.values()].flatMap(({ method, jobType, step }) => {
    if (jobType === null || step !== Step.SUBMIT) return [];
    const { kind, market } = jobType;
    const needsApproval = kind.approval && approval;
    return [
      {
        method,
        market: market.name,
        kind: kind.name,
        unitPrice: unitPrice(context, jobType),
        chargedAt: chargedAt(jobType, needsApproval),
        needsApproval,
        inWorkingHours: kind.workingHours && workingHours !== null,
        regions: market.regions,
        reusedUnitPrice: reusedPrice(context, unitPrice(context, jobType)),
        maxUnits: maxUnitsOf(jobType),
        maxBatchUnits: kind.batchSize,
        maxBodyBytes: maxBodyBytes(method),
      },
    ];
  });
}

/** Returns when a job is charged. */
export const chargedAt = (
  { kind }: Pick<ResolvedJobType, 'kind'>,
  needsApproval: boolean,
): 'submit' | 'approval' => (needsApproval ? kind.charge : 'submit');

/**
 * Returns the maximum units of a submission: the kind's limit, or the limit of the list in the
 * request, otherwise 1.
 */
function maxUnitsOf({ kind, request }: ResolvedJobType): number {
  if (kind.maxUnits !== undefined) return kind.maxUnits;
  for (const field of request.fields) {
    const { type } = rulesOf(field);
    if (field.fieldKind === 'list' && type.case === 'repeated') return Number(type.value.maxItems);
  }
  return 1;
}

/**
 * Ledger entries of one job. Every entry has a stable key, so that a crash or a duplicate request
 * posts it only once.
 */
export const entryKeys = {
  charge: (jobId: string) => `charge:${jobId}`,
  refund: (jobId: string) => `refund:${jobId}`,
};

/**
 * Charges a job's cost to its owner, within the credit ceiling of the key that submitted it. Throws
 * `insufficient_credits` with the quota; `conflict` if the job ended or was discarded before it was
 * charged.
 */
export async function chargeJob(store: Store, job: Job, now: number): Promise<void> {
  if (job.cost === 0) return;
  const key = entryKeys.charge(job.id);
  const posting = await store.ledger.post({
    key,
    userId: job.userId,
    amount: -job.cost,
    type: 'charge',
    jobId: job.id,
    keyId: job.keyId,
    note: '',
    createdAt: now,
  });
  if (posting.posted) return;
  if (posting.ceiling !== undefined) throw ceilingExceeded(job.cost, posting.ceiling);
  throw creditsShort(job.cost, posting.balance);
}

/** Returns the credits charged for a job so far, before refunds. */
export function chargedCredits({ state, cost }: Job, chargedAt: 'submit' | 'approval'): number {
  return chargedAt === 'submit' || isCharged(state) ? cost : 0;
}

/**
 * Returns the fault `insufficient_credits` if the balance or the key's credit ceiling does not
 * cover a job, otherwise null. Called before a submission; the charge checks both again.
 */
export async function findShortfall(
  store: Store,
  { userId, keyId, cost }: Pick<Job, 'userId' | 'keyId' | 'cost'>,
): Promise<Fault | null> {
  const [user, key] = await Promise.all([
    store.users.get(userId),
    keyId === null ? null : store.apiKeys.get(keyId),
  ]);
  const balance = user?.balance ?? 0;
  if (balance < cost) return creditsShort(cost, balance);
  if (key === null || key.creditCeiling === null) return null;
  const ceiling = { keyId: key.id, max: key.creditCeiling, spent: key.creditsSpent };
  if (ceiling.spent + cost > ceiling.max) return ceilingExceeded(cost, ceiling);
  return null;
}

/**
 * Returns the fault `max_credits_exceeded` if a job costs more than its submission allows,
 * otherwise null. Its quota contains the balance, like that of every credit fault.
 */
export async function findExcess(
  store: Pick<Store, 'users'>,
  { userId, cost, options: { maxCredits } }: Pick<Job, 'userId' | 'cost' | 'options'>,
): Promise<Fault | null> {
  if (maxCredits === undefined || cost <= maxCredits) return null;
  const current = (await store.users.get(userId))?.balance ?? 0;
  return new Fault(
    'max_credits_exceeded',
    `max_credits: The work costs ${cost} credits, more than the maximum of ${maxCredits}.`,
    { quota: { required: cost, current } },
  );
}

/** Returns the fault for a cost above what is left of a key's credit ceiling (docs/errors.md). */
function ceilingExceeded(required: number, { max, spent }: SpentCeiling): Fault {
  const current = max - spent;
  const ceiling = `The API key's credit ceiling is ${max}, of which ${spent} are spent`;
  return new Fault(
    'insufficient_credits',
    `The work costs ${required} credits. ${ceiling}: ${required - current} short.`,
    { quota: { required, current } },
  );
}

/** Returns the fault for a balance that does not cover a cost (docs/errors.md). */
function creditsShort(required: number, current: number): Fault {
  const missing = required - current;
  return new Fault(
    'insufficient_credits',
    `The work costs ${required} credits, the account has ${current}: ${missing} short.`,
    { quota: { required, current } },
  );
}

/**
 * Refunds `owed` credits of an ending job: the cost of its failed units, or the whole cost of a
 * rejected or discarded job. A job that was not charged gets no refund and can no longer be
 * charged. The refund is not dated before the charge, which a process whose clock is ahead may have
 * posted. Returns the total refunded.
 */
export async function refundJob(
  store: Store,
  job: Job,
  owed: number,
  now: number,
): Promise<number> {
  const charge = await finalizeCharge(store, job, now);
  if (charge === null) return 0;
  await refund(store, job, owed, Math.max(now, charge.createdAt));
  return owed;
}

/** Returns true if a job was discarded or ended before it was charged. Its id cannot be reused. */
export function isChargeVoid(store: Store, jobId: string): Promise<boolean> {
  return store.ledger.isVoid(entryKeys.charge(jobId));
}

/**
 * Returns the entry that charged the job. If there is none, returns null, and concurrent and later
 * charges are refused.
 */
async function finalizeCharge(store: Store, job: Job, now: number): Promise<LedgerEntry | null> {
  if (job.cost === 0) return null;
  return store.ledger.voidKey(entryKeys.charge(job.id), job.userId, now);
}

async function refund(store: Store, job: Job, amount: number, now: number): Promise<void> {
  if (amount <= 0) return;
  await store.ledger.post({
    key: entryKeys.refund(job.id),
    userId: job.userId,
    amount,
    type: 'refund',
    jobId: job.id,
    keyId: job.keyId,
    note: '',
    createdAt: now,
  });
}

/** Credits of one job in the ledger. */
export interface JobRefunds {
  /** True if its cost was charged. */
  charged: boolean;
  /** Key of the entry that refunded its failed units. Null before the refund. */
  entry: string | null;
}

/** Finds the charge and the refund of a job. */
export async function jobRefunds(store: Store, { id }: Pick<Job, 'id'>): Promise<JobRefunds> {
  const [charge, refundEntry] = await Promise.all([
    store.ledger.get(entryKeys.charge(id)),
    store.ledger.get(entryKeys.refund(id)),
  ]);
  return { charged: charge !== null, entry: refundEntry?.key ?? null };
}
