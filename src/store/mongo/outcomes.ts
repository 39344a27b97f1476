import { Binary } from 'mongodb';
import { newId } from '../../base/id.ts';
import type { BatchState, Outcome } from '../documents.ts';
import { addOutcomes, countOutcomes, endOutstanding, type OutcomeWrite } from '../outcomes.ts';
import type { Payload } from '../store.ts';
import { unlessDuplicate } from './engine.ts';
import type { BatchDocument, Collections } from './schema.ts';

/** Batches that are failed in one message. */
const failChunk = 100;

/** Name of a payload's document. */
export function payloadId(batchId: string, attempt: number, index: number): string {
  return `${batchId}/${attempt}/${index}`;
}

/** Puts the counts that a batch was read with into a filter: they rise with every outcome, so that none comes between. */
const unchanged = ({
  _id,
  attempt,
  state,
  success,
  failed,
}: Pick<BatchDocument, '_id' | 'attempt' | 'state' | 'success' | 'failed'>) => ({
  _id,
  attempt,
  state,
  success,
  failed,
});

/**
 * Adds outcomes to a claimed batch, and ends it where the write says so. Payloads go first: without
 * an outcome that names their attempt nobody reads them, so those of a late worker do no harm. They are
 * removed where the claim turns out to be lost, and, of workers that died in between, at the end.
 */
export async function writeOutcomes(
  { batches, payloads }: Collections,
  batchId: string,
  attempt: number,
  write: OutcomeWrite,
): Promise<boolean> {
  let written = false;
  for (;;) {
    const batch = await batches.findOne(
      { _id: batchId, attempt },
      { projection: { total: 1, attempt: 1, state: 1, success: 1, failed: 1, outcomes: 1 } },
    );
    // The same end once more: its first answer was lost on the way.
    if (batch?.state === 'done') return write.end !== undefined;
    if (batch?.state !== 'claimed') {
      if (written) await removeUnread({ batches, payloads }, batchId, [attempt]);
      return false;
    }
    const addition = addOutcomes(batchId, batch.total, batch.outcomes, write);
    const fresh = Object.entries(addition.fresh);
    if (fresh.length === 0 && !write.end) return true;
    await writePayloads(payloads, batchId, attempt, addition.payloads);
    written = addition.payloads.length > 0;
    const ending: Partial<BatchDocument> = write.end
      ? { state: 'done', leaseUntil: null, notBefore: null, file: write.end.file, endedAt: write.end.at }
      : {};
    const added = await batches.updateOne(unchanged(batch), {
      $set: {
        ...Object.fromEntries(fresh.map(([index, outcome]) => [`outcomes.${index}`, outcome])),
        success: addition.success,
        failed: addition.failed,
        ...(fresh.length > 0 ? { stalledClaims: 0 } : {}),
        ...ending,
      },
    });
    if (added.matchedCount === 0) continue;
    if (write.end && attempt > 1) {
      const earlier = Array.from({ length: attempt - 1 }, (_, before) => before + 1);
      await removeUnread({ batches, payloads }, batchId, earlier);
    }
    return true;
  }
}

/**
 * Removes payloads that attempts without a claim wrote and no outcome names. No outcome can come to name them:
 * an attempt that has lost its claim does not get it back. Does not reject: what stays takes room and nothing else.
 */
async function removeUnread(
  { batches, payloads }: Pick<Collections, 'batches' | 'payloads'>,
  batchId: string,
  attempts: readonly number[],
): Promise<void> {
  const its = { projection: { total: 1, outcomes: 1 } };
  const batch = await batches.findOne({ _id: batchId }, its).catch(() => null);
  if (!batch) return;
  const isRead = (attempt: number, index: number) => {
    const outcome = batch.outcomes[index];
    return outcome?.status === 'SUCCESS' && outcome.attempt === attempt;
  };
  const indexes = Array.from({ length: batch.total }, (_, index) => index);
  const unread = attempts.flatMap((attempt) =>
    indexes.filter((index) => !isRead(attempt, index)).map((index) => payloadId(batchId, attempt, index)),
  );
  await payloads.deleteMany({ _id: { $in: unread } }).catch(() => {});
}

async function writePayloads(
  payloads: Collections['payloads'],
  batchId: string,
  attempt: number,
  its: readonly Payload[],
): Promise<void> {
  if (its.length === 0) return;
  const documents = its.map(({ index, body }) => ({
    _id: payloadId(batchId, attempt, index),
    body: new Binary(body),
  }));
  if (await unlessDuplicate(payloads.insertMany(documents, { ordered: false }))) return;
  // An earlier try of this worker broke off before its outcomes were written: the last one stands.
  const replacements = documents.map(({ _id, body }) => ({
    replaceOne: { filter: { _id }, replacement: { body }, upsert: true },
  }));
  await payloads.bulkWrite(replacements, { ordered: false });
}

/** Ends batches and raises their attempt, so that a worker that still has one is late (BatchStore.failBatches). */
export async function failBatches(
  batches: Collections['batches'],
  jobId: string,
  states: readonly BatchState[],
  outcome: Outcome,
  now: number,
): Promise<number> {
  let ended = 0;
  for (;;) {
    const found = await batches
      .find(
        { jobId, state: { $in: [...states] } },
        { projection: { total: 1, attempt: 1, state: 1, success: 1, failed: 1, outcomes: 1 } },
      )
      .limit(failChunk)
      .toArray();
    if (found.length === 0) return ended;
    // A batch that its worker changes meanwhile is not matched and is read again in the next turn.
    const taker = newId();
    const updates = found.map((batch) => {
      const outcomes = endOutstanding(batch.total, batch.outcomes, outcome);
      const fields = {
        outcomes,
        ...countOutcomes(outcomes),
        state: 'done' as const,
        leaseUntil: null,
        notBefore: null,
        endedAt: now,
      };
      return {
        updateOne: { filter: unchanged(batch), update: { $set: { ...fields, taker }, $inc: { attempt: 1 } } },
      };
    });
    const { matchedCount } = await batches.bulkWrite(updates, { ordered: false });
    let mine = new Set(found.map(({ _id }) => _id));
    if (matchedCount < found.length) {
      const marked = await batches
        .find({ _id: { $in: [...mine] }, taker }, { projection: { _id: 1 } })
        .toArray();
      mine = new Set(marked.map(({ _id }) => _id));
    }
    for (const { _id, total, success, failed } of found) if (mine.has(_id)) ended += total - success - failed;
  }
}
