import type { Rule } from '../../gen/gleaner/history/v1/history_pb.ts';
import { valueName } from './item.ts';
import { marketTitle } from './names.ts';
import { regionText } from './text.ts';

/** Condition of a rule with its label, and whether it needs a threshold or a field. */
export interface ConditionChoice {
  value: string;
  label: string;
  threshold?: string;
  field?: boolean;
}

/** Conditions, in the order of the documentation. */
export const conditions: readonly ConditionChoice[] = [
  { value: 'price_falls_by', label: 'Price falls by', threshold: 'Percent' },
  { value: 'price_rises_by', label: 'Price rises by', threshold: 'Percent' },
  { value: 'price_below', label: 'Price below', threshold: 'Price' },
  { value: 'price_above', label: 'Price above', threshold: 'Price' },
  { value: 'back_in_stock', label: 'Back in stock' },
  { value: 'out_of_stock', label: 'Out of stock' },
  { value: 'changes', label: 'Any change of', field: true },
];

/** Describes the condition of a rule: "Price falls by 5 %". */
export function conditionText({ condition, threshold, field }: Rule): string {
  const choice = conditions.find(({ value }) => value === condition);
  const unit = choice?.threshold === 'Percent' ? ' %' : '';
  const detail = threshold === undefined ? valueName(field) : `${threshold}${unit}`;
  return [choice?.label ?? condition, detail].filter(Boolean).join(' ');
}

/** Describes the items that a rule is about. */
export function scopeText({ market, region, key, series }: Rule): string {
  const item = [market && marketTitle(market), region && regionText(region), key]
    .filter(Boolean)
    .join(', ');
  return [item, series && `series ${series}`].filter(Boolean).join(', ') || 'All tracked items';
}
