import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { Submission } from '../documents.ts';
import { aTime } from './samples.ts';
import { type OpenStores, runConcurrently, setUpStores } from './stores.ts';

/** Sequences and idempotency keys. */
export function submissionConformance(open: OpenStores): void {
  const stores = setUpStores(open);
  const aSubmission = (fields: Partial<Submission> = {}): Submission => ({
    userId: newId(),
    idempotencyKey: 'order.$7 ☃',
    bodyHash: 'ab',
    jobId: newId(),
    createdAt: aTime,
    interrupted: false,
    response: null,
    ...fields,
  });

  test('a sequence counts from 1, independent of other sequences', async () => {
    expect(await stores.store.nextNumber('one')).toBe(1);
    expect(await stores.other.nextNumber('one')).toBe(2);
    expect(await stores.store.nextNumber('two')).toBe(1);
  });

  test('concurrent callers get different numbers', async () => {
    const numbers = await runConcurrently(100, stores, (store) => store.nextNumber('crowded'));
    expect(numbers.toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 100 }, (_, at) => at + 1),
    );
  });

  test('a free key is claimed, a claimed key returns its record', async () => {
    const first = aSubmission();
    expect(await stores.store.claimSubmission(first, 0)).toBeNull();
    const second = aSubmission({ userId: first.userId });
    expect(await stores.other.claimSubmission(second, 0)).toEqual(first);
    await stores.store.completeSubmission(first.userId, first.idempotencyKey, '{"job":"…"}');
    const answered = { ...first, response: '{"job":"…"}' };
    expect(await stores.store.claimSubmission(second, aTime)).toEqual(answered);
  });

  test('an interrupted submission is marked in its record until it has a response', async () => {
    const first = aSubmission();
    const { userId, idempotencyKey } = first;
    await stores.store.claimSubmission(first, 0);
    await stores.other.markSubmissionInterrupted(userId, idempotencyKey);
    await stores.other.markSubmissionInterrupted(userId, 'another key');
    expect(await stores.store.claimSubmission(aSubmission({ userId }), 0)).toEqual({
      ...first,
      interrupted: true,
    });
    await stores.store.completeSubmission(userId, idempotencyKey, '{}');
    await stores.store.markSubmissionInterrupted(userId, idempotencyKey);
    expect(await stores.store.claimSubmission(aSubmission({ userId }), 0)).toMatchObject({ response: '{}' });
  });

  test('equal keys of different users are different keys', async () => {
    expect(
      await stores.store.claimSubmission(aSubmission({ userId: 'a', idempotencyKey: 'b:c' }), 0),
    ).toBeNull();
    expect(
      await stores.store.claimSubmission(aSubmission({ userId: 'a:b', idempotencyKey: 'c' }), 0),
    ).toBeNull();
    expect(
      await stores.store.claimSubmission(aSubmission({ userId: 'b', idempotencyKey: 'b:c' }), 0),
    ).toBeNull();
  });

  test('grants one of concurrent claims of a key, and returns its record to the others', async () => {
    const userId = newId();
    const taken = await runConcurrently(40, stores, (store) =>
      store.claimSubmission(aSubmission({ userId }), 0),
    );
    expect(taken.filter((holder) => holder === null)).toHaveLength(1);
    expect(new Set(taken.flatMap((holder) => holder?.jobId ?? [])).size).toBe(1);
  });

  test('an expired key can be claimed again, by one of many callers', async () => {
    const old = aSubmission();
    await stores.store.claimSubmission(old, 0);
    await stores.store.completeSubmission(old.userId, old.idempotencyKey, 'old');
    const taken = await runConcurrently(20, stores, (store) =>
      store.claimSubmission(aSubmission({ userId: old.userId, createdAt: aTime + 100 }), aTime + 1),
    );
    expect(taken.filter((holder) => holder === null)).toHaveLength(1);
    expect(taken.flatMap((holder) => holder?.response ?? [])).toEqual([]);
  });

  test('a released key is free; a key with a response cannot be released', async () => {
    const submission = aSubmission();
    await stores.store.claimSubmission(submission, 0);
    await stores.other.deleteSubmission(submission.userId, submission.idempotencyKey);
    expect(await stores.store.claimSubmission(submission, 0)).toBeNull();
    await stores.store.completeSubmission(submission.userId, submission.idempotencyKey, 'first');
    await stores.store.completeSubmission(submission.userId, submission.idempotencyKey, 'second');
    await stores.store.deleteSubmission(submission.userId, submission.idempotencyKey);
    expect(await stores.store.claimSubmission(submission, 0)).toMatchObject({ response: 'first' });
  });
}
