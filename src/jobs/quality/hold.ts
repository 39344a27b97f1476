import { parseFields } from '../../base/record-schema.ts';
import type { HoldReason, JobHold } from '../../store/documents.ts';
import type { Quality } from './quality-counter.ts';

/** A rule of the option `hold`: the job is held if the field is filled in fewer records. */
export interface HoldRule {
  field: string;
  /** Minimum fill in percent. */
  minimum: number;
}

/** Parses the option `hold`, which has the form that the contract requires: `price:95,title:99`. */
export function parseHold(text: string): HoldRule[] {
  return text
    .split(',')
    .filter((rule) => rule !== '')
    .map((rule) => {
      const at = rule.lastIndexOf(':');
      return { field: rule.slice(0, at), minimum: Number(rule.slice(at + 1)) };
    });
}

/** Returns the problems of rules for records with these listed fields. */
export function problemsOfHold(rules: readonly HoldRule[], listed: string): string[] {
  const known = parseFields(listed).map(({ path }) => path);
  return rules.flatMap(({ field, minimum }) => {
    if (!known.includes(field)) return [`'${field}' is not a field of the records. Use ${known.join(', ')}`];
    return minimum > 100 ? [`'${field}': the minimum ${minimum} is more than 100 percent`] : [];
  });
}

/**
 * Returns the hold of a job that ended at `at` with records of this quality, or null if it meets its rules.
 */
export function holdOf(rules: readonly HoldRule[], { fields }: Quality, at: number): JobHold | null {
  const reasons = rules.flatMap(({ field, minimum }): HoldReason[] => {
    const percent = fields.find(({ name }) => name === field)?.percent ?? 0;
    return percent < minimum ? [{ field, minimum, percent }] : [];
  });
  return reasons.length === 0 ? null : { state: 'held', reasons, heldAt: at, decidedAt: null };
}
