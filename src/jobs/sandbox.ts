import type { Plan } from '../kinds/kind.ts';
import type { Unit } from '../store/documents.ts';
import { approvalWaitMs } from './context.ts';

/*
 * Rules of test jobs (docs/sandbox.md). A test job has the life of a live one, except that its batches have their own
 * queue, its units read the sandbox, and its first unit decides on its approval.
 */

/** Name of the queue of test batches, in place of a market's. Only workers with a sandbox consume it. */
export const sandboxQueue = 'sandbox';

/** Decision on a test job that awaits approval. `none`: it waits until its deadline, unless an operator decides. */
export type TestDecision = 'approve' | 'reject' | 'none';

const decisions: Readonly<Record<string, TestDecision>> = { 990: 'reject', 991: 'none' };

/** Returns the decision that the last three digits of a job's first unit select; by default, it is approved. */
export function testDecision({ key }: Pick<Unit, 'key'>): TestDecision {
  const digits = key.match(/\d{3}(?!\d)/g)?.at(-1);
  return (digits !== undefined && Object.hasOwn(decisions, digits) && decisions[digits]) || 'approve';
}

/** Returns the time from the submit of a test job to its decision, in milliseconds. The sweep decides. */
export function testDecisionMs({ groups }: Pick<Plan, 'groups'>): number {
  const first = groups.find(({ units }) => units.length > 0)?.units[0];
  return first !== undefined && testDecision(first) === 'none' ? approvalWaitMs : 0;
}
