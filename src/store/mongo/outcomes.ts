import type { UpdateFilter } from 'mongodb';
import { type BoundedMap, createBoundedMap } from '../../base/bounded-map.ts';
import { newId } from '../../base/id.ts';
import type { OutcomeWrite } from '../batch-store.ts';
import type { BatchKey, BatchState, Outcome } from '../batches.ts';
import {
  addOutcomes,
  countOutcomes,
  failOutstanding,
  maxStalledWithProgress,
  type OutcomeChange,
} from '../outcomes.ts';
import type { BatchDocument, MongoCollections } from './schema.ts';

/** Fields of unchanged(). */
const countFields = {
  jobId: 1,
  total: 1,
  attempt: 1,
  state: 1,
  success: 1,
  failed: 1,
} as const;

/** Batches failed per message. */
const failChunk = 100;

/** Filter that matches the batch as it was read: the counts grow with every outcome. */
const unchanged = ({
  _id,
  jobId,
  attempt,
  state,
  total,
  success,
  failed,
}: Pick<
  BatchDocument,
  '_id' | 'jobId' | 'attempt' | 'state' | 'total' | 'success' | 'failed'
>) => ({
  _id,
  jobId,
  attempt,
  state,
  total,
  success,
  failed,
});

/** Fields of a batch that a write of outcomes depends on. */
export type WrittenBatch = Pick<
  BatchDocument,
  '_id' | 'jobId' | 'attempt' | 'state' | 'total' | 'success' | 'failed' | 'outcomes' | 'segments'
>;

/**
 * Creates a memory of claimed batches as this process left them, so that they need not be read
 * before a write of outcomes. If another process has written one since, the update matches nothing.
 */
export const createWrittenBatches = (): BoundedMap<WrittenBatch> =>
  createBoundedMap({
    maxBytes: 8 * 1024 ** 2,
    sizeOf: ({ outcomes, segments }) =>
      512 + 512 * (Object.keys(outcomes).length + segments.length),
  });

/** Returns a batch as its claim left it. */
export function claimedBatch(before: BatchDocument): WrittenBatch {
  const { _id, jobId, total, success, failed, outcomes, segments } = before;
  const attempt = before.attempt + 1;
  return {
    _id,
    jobId,
    attempt,
    state: 'claimed',
    total,
    success,
    failed,
    outcomes,
    segments,
  };
}

/**
 * Derives the claimed batch from a write that carries every outcome (the common case), which saves
 * a read. Returns null for a partial write. If the batch has other outcomes, the update matches
 * nothing.
 */
function assumeBatch(
  { id: _id, jobId }: BatchKey,
  attempt: number,
  { outcomes, end }: OutcomeWrite,
): WrittenBatch | null {
  const indexes = Object.keys(outcomes);
  if (!end || indexes.some((index, position) => Number(index) !== position)) return null;
  const claim = {
    _id,
    jobId,
    attempt,
    state: 'claimed' as BatchState,
  };
  return {
    ...claim,
    total: indexes.length,
    success: 0,
    failed: 0,
    outcomes: {},
    segments: [],
  };
}

/** Removes the batch from the memory, and returns it if this attempt left it. */
function takeWritten(
  written: BoundedMap<WrittenBatch>,
  { id, jobId }: BatchKey,
  attempt: number,
): WrittenBatch | null {
  const latest = written.get(id);
  written.delete(id);
  return latest?.attempt === attempt && latest.jobId === jobId ? latest : null;
}

/** Adds outcomes to a claimed batch and ends it if the write says so. */
export async function writeOutcomes(
  batches: MongoCollections['batches'],
  written: BoundedMap<WrittenBatch>,
  key: BatchKey,
  attempt: number,
  write: OutcomeWrite,
): Promise<boolean> {
  const { id, jobId } = key;
  const projection = { ...countFields, outcomes: 1, segments: 1 };
  const read = () => batches.findOne<WrittenBatch>({ _id: id, jobId, attempt }, { projection });
  const assumed = takeWritten(written, key, attempt) ?? assumeBatch(key, attempt, write);
  for (let batch = assumed ?? (await read()); ; batch = await read()) {
    // A retry of a call whose response was lost.
    if (batch?.state === 'done') return write.end !== undefined;
    if (batch?.state !== 'claimed') return false;
    const added = addOutcomes(id, batch, write);
    const isUnchanged = !write.end && Object.keys(added.fresh).length === 0;
    // Whether the claim is lost is not known of an assumed batch.
    if (isUnchanged && batch === assumed) continue;
    if (isUnchanged) return true;
    const update = updateOf(batch, added, write);
    const { matchedCount } = await batches.updateOne(unchanged(batch), update);
    if (matchedCount === 0) continue;
    rememberBatch(written, batch, added, write);
    return true;
  }
}

/** Returns the update that adds outcomes to a batch. */
function updateOf(
  { segments: previousSegments }: WrittenBatch,
  { fresh, segments, success, failed, storedBytes }: OutcomeChange,
  write: OutcomeWrite,
): UpdateFilter<BatchDocument> {
  const added = Object.entries(fresh);
  const fields: UpdateFilter<BatchDocument> = {
    ...Object.fromEntries(added.map(([index, outcome]) => [`outcomes.${index}`, outcome])),
    success,
    failed,
    storedBytes,
    ...endingOf(write),
  };
  if (segments !== previousSegments) fields.segments = segments;
  if (write.pages) fields.pages = write.pages;
  const update: UpdateFilter<BatchDocument> = { $set: fields };
  if (added.length > 0) update.$min = { stalledClaims: maxStalledWithProgress };
  return update;
}

/** Remembers a batch as the update left it, unless the update ended it. */
function rememberBatch(
  written: BoundedMap<WrittenBatch>,
  batch: WrittenBatch,
  { fresh, segments, success, failed }: OutcomeChange,
  { end }: OutcomeWrite,
): void {
  if (end) return;
  const outcomes = { ...batch.outcomes, ...fresh };
  written.set(batch._id, {
    ...batch,
    success,
    failed,
    segments,
    outcomes,
  });
}

/** Returns the fields of a batch that a write ends. */
function endingOf({ end }: OutcomeWrite): Partial<BatchDocument> {
  if (!end) return {};
  return {
    state: 'done',
    leaseUntil: null,
    notBefore: null,
    wait: null,
    file: end.file,
    endedAt: end.at,
  };
}

/**
 * Ends batches and increments their attempt, so that a worker's later write has no effect
 * (BatchStore.fail).
 */
export async function failBatches(
  batches: MongoCollections['batches'],
  jobId: string,
  states: readonly BatchState[],
  outcome: Outcome,
  now: number,
): Promise<number> {
  let ended = 0;
  for (;;) {
    const found = await batches
      .find({ jobId, state: { $in: [...states] } }, { projection: { ...countFields, outcomes: 1 } })
      .limit(failChunk)
      .toArray();
    if (found.length === 0) return ended;
    // A batch that its worker changes meanwhile does not match and is read again in the next
    // iteration.
    const moveId = newId();
    const updates = found.map((batch) => {
      const outcomes = failOutstanding(batch.total, batch.outcomes, outcome);
      const fields = {
        outcomes,
        ...countOutcomes(outcomes),
        state: 'done' as const,
        leaseUntil: null,
        notBefore: null,
        wait: null,
        endedAt: now,
      };
      return {
        updateOne: {
          filter: unchanged(batch),
          update: { $set: { ...fields, moveId }, $inc: { attempt: 1 } },
        },
      };
    });
    const { matchedCount } = await batches.bulkWrite(updates, { ordered: false });
    let mine = new Set(found.map(({ _id }) => _id));
    if (matchedCount < found.length) {
      const marked = await batches
        .find({ _id: { $in: [...mine] }, jobId, moveId }, { projection: { _id: 1 } })
        .toArray();
      mine = new Set(marked.map(({ _id }) => _id));
    }
    for (const { _id, total, success, failed } of found)
      if (mine.has(_id)) ended += total - success - failed;
  }
}
