import { hash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import type { JobSnapshot } from '../kinds/kind.ts';
import type { Counts, Job, Outcome } from '../store/documents.ts';

const dayMs = 24 * 3_600_000;

/**
 * The tag of what a snapshot shows: another one whenever the job's state, counts, refunds, file or what it
 * waits for change. Signed links differ at every call and are left out; since they end after 7 days, a tag
 * holds for one day at most, so that no answer that is kept by its tag has links of less than 6 days. Weak.
 */
export function tagOf(clock: Clock, snapshot: JobSnapshot, waitingFor: string | null = null): string {
  return jobTag(clock, snapshot.job, [countsIn(snapshot), outcomeIn(snapshot), waitingFor]);
}

/** The tag of a job beside what else of it is shown. Weak. */
export function jobTag(clock: Clock, job: Job, shown: unknown): string {
  const { state, refunded, reason, file } = job;
  const day = Math.floor(clock.now() / dayMs);
  const text = JSON.stringify([job.id, state, refunded, reason, file?.sha256 ?? null, shown, day]);
  return `W/"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
}

/** How far a job is, from whatever of it the view asked for: outcomes only ever grow in number. */
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
