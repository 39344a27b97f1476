import type { TrackedField, TrackedValues } from '../base/tracked-values.ts';
import type { ItemKey, Rule, RuleState } from '../store/history.ts';

/** Maximum rules of a user. */
export const maxRules = 100;

/** A reading of an item as rules see it. `before` is null for an item that was not read before. */
export interface RuleInput {
  before: TrackedValues | null;
  after: TrackedValues;
  changed: readonly TrackedField[];
}

/** Result of a rule for a reading. */
export interface RuleResult {
  /** True if a message is due. */
  fires: boolean;
  /** Null for conditions that need no state. */
  state: RuleState | null;
}

/** Returns true if a rule is about an item in a job of a series. */
export function isInScope(rule: Rule, { market, region, key }: ItemKey, series: string): boolean {
  const scopes = [
    [rule.market, market],
    [rule.region, region],
    [rule.key, key],
    [rule.series, series],
  ];
  return rule.enabled && scopes.every(([scope, actual]) => scope === '' || scope === actual);
}

/**
 * Evaluates a rule for a reading. A rule fires once per condition: prices are compared with a
 * reference that follows the price, limits fire again only after the price was on the other side,
 * and the other conditions are changes themselves.
 */
export function evaluate(rule: Rule, state: RuleState | undefined, input: RuleInput): RuleResult {
  const currentState = state?.revision === rule.revision ? state : null;
  const { fires, nextState } = evaluators[rule.condition](rule, currentState, input);
  return { fires, state: nextState && { revision: rule.revision, ...nextState } };
}

interface Evaluation {
  fires: boolean;
  nextState: StateValues | null;
}
type Evaluator = (rule: Rule, state: RuleState | null, input: RuleInput) => Evaluation;

const moment = (fires: boolean): Evaluation => ({ fires, nextState: null });

/**
 * Evaluates a condition of prices. Prices of different currencies are not compared: the first one
 * of another currency is evaluated as a new reference, and sends no message.
 */
const ofPrices =
  (
    compare: (threshold: number, state: StateValues | null, input: RuleInput) => Priced,
  ): Evaluator =>
  ({ threshold }, state, input) => {
    const { before, after } = input;
    const currency = after.currency ?? state?.currency ?? null;
    const last = state?.currency ?? before?.currency ?? null;
    const isOther = currency !== null && last !== null && currency !== last;
    if (!isOther) {
      const { fires, ...values } = compare(threshold ?? 0, state, input);
      return { fires, nextState: { ...values, currency } };
    }
    const { fires: _, ...values } = compare(threshold ?? 0, null, { ...input, before: null });
    return { fires: false, nextState: { ...values, currency } };
  };

type StateValues = Omit<RuleState, 'revision'>;
type Priced = Pick<StateValues, 'isTrue' | 'reference'> & { fires: boolean };

/**
 * Fires when the price differs from the reference by a percentage; otherwise the reference follows
 * in the other direction.
 */
const trend = (sign: 1 | -1): Evaluator =>
  ofPrices((threshold, state, { before, after: { price } }) => {
    const reference = state?.reference ?? before?.price ?? null;
    if (price === null || reference === null)
      return { fires: false, isTrue: false, reference: reference ?? price };
    const movedBack = sign * (price - reference) < 0;
    const fires = price !== reference && !movedBack && hasMoved(price, reference, threshold);
    return { fires, isTrue: fires, reference: fires || movedBack ? price : reference };
  });

/**
 * Returns true if a price differs from a reference by a percentage or more. In decimals: as floats,
 * 0.27 is not 10 % below 0.3.
 */
function hasMoved(price: number, reference: number, percentage: number): boolean {
  const units = decimalUnits([price, reference, percentage, 100]);
  const [priceUnits = 0n, referenceUnits = 0n, percentageUnits = 0n, wholeUnits = 0n] = units;
  const difference = priceUnits - referenceUnits;
  const distance = difference < 0n ? -difference : difference;
  return distance * wholeUnits >= referenceUnits * percentageUnits;
}

/**
 * Returns numbers as integers of one unit, a power of ten, so that they can be calculated with as
 * the decimals that they are written as: 0.3 and 12 are 3n and 120n. The numbers are finite.
 */
function decimalUnits(values: readonly number[]): bigint[] {
  const decimals = values.map(decimalOf);
  const scale = Math.max(0, ...decimals.map((decimal) => decimal.scale));
  return decimals.map((decimal) => decimal.digits * 10n ** BigInt(scale - decimal.scale));
}

/** Returns the digits of a number and how many of them are decimals; negative above 1e21. */
function decimalOf(value: number): { digits: bigint; scale: number } {
  const [mantissa = '', exponent = '0'] = String(value).split('e');
  const [integerPart = '', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(integerPart + fraction), scale: fraction.length - Number(exponent) };
}

/**
 * Fires when a limit is passed: on the first reading beyond it, and again only after a reading on
 * the other side.
 */
const limit = (isBeyond: (price: number, threshold: number) => boolean): Evaluator =>
  ofPrices((threshold, state, { after: { price } }) => {
    const wasTrue = state?.isTrue ?? false;
    if (price === null) return { fires: false, isTrue: wasTrue, reference: null };
    const isTrue = isBeyond(price, threshold);
    return { fires: isTrue && !wasTrue, isTrue, reference: null };
  });

const evaluators: Readonly<Record<Rule['condition'], Evaluator>> = {
  price_falls_by: trend(-1),
  price_rises_by: trend(1),
  price_below: limit((price, threshold) => price < threshold),
  price_above: limit((price, threshold) => price > threshold),
  back_in_stock: (_rule, _state, { before, after }) =>
    moment(before?.available === false && after.available === true),
  out_of_stock: (_rule, _state, { before, after }) =>
    moment(before?.available === true && after.available === false),
  changes: ({ field }, _state, { before, changed }) =>
    moment(before !== null && field !== '' && changed.includes(field)),
};
