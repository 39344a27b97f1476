import { hash } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { JobSnapshot } from '../../kinds/kind.ts';
import type { Outcome } from '../../store/batches.ts';
import type { Counts, Job } from '../../store/documents.ts';

const dayMs = 24 * 3_600_000;

/**
 * Returns the weak entity tag of a snapshot. It changes with the job's state, counts, refund, file and wait.
 * Signed links differ in each response and are not covered; since they expire after 7 days, a tag is valid
 * for at most one day, so that the links of a cached response are valid for at least 6.
 */
export function tagOf(clock: Clock, snapshot: JobSnapshot, waitingFor: string | null = null): string {
  return jobTag(clock, snapshot.job, [countsIn(snapshot), outcomeIn(snapshot), waitingFor]);
}

/** Returns the weak entity tag of a job and of whatever else a response shows. */
export function jobTag(clock: Clock, job: Job, shown: unknown): string {
  const { state, refunded, reason, file } = job;
  const day = Math.floor(clock.now() / dayMs);
  const text = JSON.stringify([job.id, state, refunded, reason, file?.sha256 ?? null, shown, day]);
  return `W/"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
}

/**
 * Returns the progress in the parts that the view needs. Outcomes are only added, so counts identify them.
 */
function countsIn({ counts, batches, units }: JobSnapshot): Counts | number[] | null {
  if (counts !== undefined) return counts;
  if (batches !== undefined) {
    const sums = [0, 0, 0];
    for (const { success, failed, state } of batches) {
      sums[0]! += success;
      sums[1]! += failed;
      if (state === 'done') sums[2]! += 1;
    }
    return sums;
  }
  if (units === undefined) return null;
  const done = new Set(units.flatMap(({ batch }) => (batch.state === 'done' ? [batch.id] : [])));
  const success = units.filter(({ outcome }) => outcome?.status === 'SUCCESS').length;
  const failed = units.filter(({ outcome }) => outcome?.status === 'FAILED').length;
  return [success, failed, done.size];
}

function outcomeIn({ unit }: JobSnapshot): Outcome | null {
  return unit?.outcome ?? null;
}
