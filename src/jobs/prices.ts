import type { DescMethod } from '@bufbuild/protobuf';
import { Step } from '../../gen/gleaner/options/v1/options_pb.ts';
import { maxBodyBytes } from '../contract/body-limit.ts';
import { quote } from '../contract/problem-texts.ts';
import { rulesOf } from '../contract/rules.ts';
import { didYouMean } from '../contract/suggest.ts';
import type { Plan } from '../kinds/kind.ts';
import type { Job, Mode } from '../store/documents.ts';
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
