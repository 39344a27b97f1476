import type { Job } from '../../store/documents.ts';
import { type StoreUse, undecidedReason } from '../context.ts';
import { testDecision } from '../sandbox.ts';
import { approve, type DecideContext, reject } from './decide.ts';

/** Dependencies of this module. */
export type DecideDueContext = DecideContext & StoreUse<'readBatches'>;

/**
 * Decides on a job whose approval deadline has passed: rejects it, or does what the first unit of a test job says. Faults:
 * `not_found`, `conflict`.
 */
export async function decideDue(context: DecideDueContext, job: Job): Promise<Job> {
  const decision = job.mode === 'test' ? await decisionOf(context, job) : 'none';
  if (decision === 'approve') return approve(context, job.id, null);
  const reason = decision === 'reject' ? 'The sandbox rejects this job.' : undecidedReason;
  return reject(context, job.id, null, reason);
}

async function decisionOf({ store }: DecideDueContext, { id }: Job) {
  for await (const { units } of store.readBatches(id, [0])) {
    if (units[0] !== undefined) return testDecision(units[0]);
  }
  return 'none';
}
