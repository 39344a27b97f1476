import type { DescMethod } from '@bufbuild/protobuf';
import { Step } from '../../gen/gleaner/options/v1/options_pb.ts';
import { maxBodyBytes } from '../contract/body-limit.ts';
import { rulesOf } from '../contract/rules.ts';
import type { Plan } from '../kinds/kind.ts';
import type { Mode } from '../store/documents.ts';
import type { JobContext } from './context.ts';
import type { Offer } from './offers.ts';
import { reusedPrice } from './reuse.ts';

/** Returns the credits per unit of an offer: as configured, else the market's price, else the kind's. */
function unitPrice({ settings: { prices } }: Pick<JobContext, 'settings'>, { kind, market }: Offer): number {
  return (
    prices.get(`${market.name}.${kind.name}`) ??
    prices.get(kind.name) ??
    market.prices?.[kind.page] ??
    kind.price
  );
}

/** Returns the credits per unit of an offer's job. Test jobs cost nothing. */
export function unitPriceIn(mode: Mode, context: Pick<JobContext, 'settings'>, offer: Offer): number {
  return mode === 'test' ? 0 : unitPrice(context, offer);
}

/** Size and price of a planned job. */
export interface Estimate {
  totalUnits: number;
  totalBatches: number;
  unitPrice: number;
  /** Credits for all units. */
  cost: number;
}

/** Returns the size and the price of a planned job. */
export function estimate(
  context: Pick<JobContext, 'settings'>,
  offer: Offer,
  { groups }: Plan,
  mode: Mode,
): Estimate {
  const { batchSize } = offer.kind;
  const totalUnits = groups.reduce((sum, { units }) => sum + units.length, 0);
  const price = unitPriceIn(mode, context, offer);
  return {
    totalUnits,
    totalBatches: groups.reduce((sum, { units }) => sum + Math.ceil(units.length / batchSize), 0),
    unitPrice: price,
    cost: price * totalUnits,
  };
}

/** Price of a unit of an offer. */
export interface Price {
  market: string;
  kind: string;
  /** Credits per unit. */
  unitPrice: number;
}

/** Lists the current price of every offer that can be submitted. */
export function listPrices(context: Pick<JobContext, 'settings' | 'offers'>): Price[] {
  return [...context.offers.methods.values()].flatMap(({ offer, step }) =>
    offer !== null && step === Step.SUBMIT
      ? [{ market: offer.market.name, kind: offer.kind.name, unitPrice: unitPrice(context, offer) }]
      : [],
  );
}

/** Price and limits of an offer. */
export interface KindPrice extends Price {
  /** Submit method. */
  method: DescMethod;
  chargedAt: 'submit' | 'approval';
  needsApproval: boolean;
  inWorkingHours: boolean;
  regions: readonly string[];
  /** Credits for a unit whose result is reused. */
  reusedUnitPrice: number;
  /** Maximum units of one submit. */
  maxUnits: number;
  maxBatchUnits: number;
  maxBodyBytes: number;
}

/** Lists the current price and the limits of every offer that can be submitted. */
export function listKindPrices(context: Pick<JobContext, 'settings' | 'offers'>): KindPrice[] {
  const { approval, workingHours } = context.settings;
  return [...context.offers.methods.values()].flatMap(({ method, offer, step }) => {
    if (offer === null || step !== Step.SUBMIT) return [];
    const { kind, market } = offer;
    const needsApproval = kind.approval && approval;
    return [
      {
        method,
        market: market.name,
        kind: kind.name,
        unitPrice: unitPrice(context, offer),
        chargedAt: chargedAt(offer, needsApproval),
        needsApproval,
        inWorkingHours: kind.workingHours && workingHours !== null,
        regions: market.regions,
        reusedUnitPrice: reusedPrice(context, unitPrice(context, offer)),
        maxUnits: maxUnitsOf(offer),
        maxBatchUnits: kind.batchSize,
        maxBodyBytes: maxBodyBytes(method),
      },
    ];
  });
}

/** Returns when a job is charged. */
export const chargedAt = ({ kind }: Pick<Offer, 'kind'>, needsApproval: boolean): 'submit' | 'approval' =>
  needsApproval ? kind.charge : 'submit';

/** Returns the maximum units of a submit: that of the kind, or of the list in the request, else 1. */
function maxUnitsOf({ kind, request }: Offer): number {
  if (kind.maxUnits !== undefined) return kind.maxUnits;
  for (const field of request.fields) {
    const { type } = rulesOf(field);
    if (field.fieldKind === 'list' && type.case === 'repeated') return Number(type.value.maxItems);
  }
  return 1;
}
