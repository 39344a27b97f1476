import { Fault } from '../contract/fault.ts';
import type { Collections } from './collections.ts';
import type { Submission } from './documents.ts';

/**
 * Returns the next integer of a named sequence, starting at 1. Each call returns another number.
 */
export async function nextNumber(
  { sequences }: Pick<Collections, 'sequences'>,
  name: string,
): Promise<number> {
  const raised = await sequences.update({ name }, {}, { add: { value: 1 } });
  if (raised !== null) return raised.value;
  await sequences.insert({ name, value: 0 });
  return (await sequences.update({ name }, {}, { add: { value: 1 } }))!.value;
}

/** Number of expired keys deleted by each claim. */
const maxExpired = 500;
const maxAttempts = 10;

/**
 * Claims an idempotency key. Returns null if the key was free or its record was created before
 * `expiredBefore`, otherwise the existing record.
 */
export async function claimSubmission(
  { submissions }: Pick<Collections, 'submissions'>,
  submission: Submission,
  expiredBefore: number,
): Promise<Submission | null> {
  const { userId, idempotencyKey } = submission;
  const isExpired = { createdAt: { below: expiredBefore } };
  await submissions.remove(isExpired, maxExpired);
  await submissions.remove({ userId, idempotencyKey, ...isExpired });
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    if (await submissions.insert(submission)) return null;
    const holder = await submissions.get(userId, idempotencyKey);
    if (holder !== null) return holder;
    // Deleted between the two operations: the key is free again.
  }
  throw new Fault(
    'unavailable',
    `idempotency key ${idempotencyKey} is claimed and released too often`,
  );
}

/**
 * Returns the conditions of a submission without a response, the only one that changes or is
 * deleted.
 */
export const unanswered = ({
  userId,
  idempotencyKey,
}: Pick<Submission, 'userId' | 'idempotencyKey'>) => ({
  userId,
  idempotencyKey,
  response: null,
});
