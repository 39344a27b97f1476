import { formatCount } from '../number/format.ts';

/** Inputs of costText(). */
export interface CostInput {
  /** Number of units; null if it is unknown. */
  units: number | null;
  /** Credits per unit. */
  unitPrice: number;
  /** Balance in credits. */
  balance: number;
}

/** Cost of a submit in words. */
export interface Cost {
  text: string;
  /** Whether the balance does not cover the cost. */
  isShort: boolean;
}

const formatCredits = (count: number) => `${formatCount(count)} ${count === 1 ? 'credit' : 'credits'}`;

/** Describes the cost of a submit and the balance after it. */
export function describeCost({ units, unitPrice, balance }: CostInput): Cost {
  const perUnit = `${formatCredits(unitPrice)} per unit`;
  if (units === null || units === 0)
    return { text: `${perUnit}. Balance: ${formatCount(balance)}.`, isShort: balance < unitPrice };
  const cost = units * unitPrice;
  const total = `${formatCredits(cost)} (${perUnit})`;
  return cost > balance
    ? { text: `${total}. ${formatCount(cost - balance)} more than your balance.`, isShort: true }
    : { text: `${total}. Balance after: ${formatCount(balance - cost)}.`, isShort: false };
}
