import { expect, test } from 'vitest';
import { newId } from '../../base/id.ts';
import type { Submission } from '../documents.ts';
import type { Store } from '../store.ts';
import { claimSubmission, nextNumber, unanswered } from '../submissions.ts';
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

  const answer = ({ submissions }: Store, submission: Submission, response: string) =>
    submissions.update(unanswered(submission), { response });
  const interrupt = ({ submissions }: Store, submission: Submission) =>
    submissions.update(unanswered(submission), { interrupted: true });

  test('a sequence counts from 1, independent of other sequences', async () => {
    expect(await nextNumber(stores.store, 'one')).toBe(1);
    expect(await nextNumber(stores.other, 'one')).toBe(2);
    expect(await nextNumber(stores.store, 'two')).toBe(1);
  });

  test('concurrent callers get different numbers', async () => {
    const numbers = await runConcurrently(100, stores, (store) => nextNumber(store, 'crowded'));
    expect(numbers.toSorted((one, other) => one - other)).toEqual(
      Array.from({ length: 100 }, (_, at) => at + 1),
    );
  });

  test('a free key is claimed, a claimed key returns its record', async () => {
    const first = aSubmission();
    expect(await claimSubmission(stores.store, first, 0)).toBeNull();
    const second = aSubmission({ userId: first.userId });
    expect(await claimSubmission(stores.other, second, 0)).toEqual(first);
    await answer(stores.store, first, '{"job":"…"}');
    const answered = { ...first, response: '{"job":"…"}' };
    expect(await claimSubmission(stores.store, second, aTime)).toEqual(answered);
  });

  test('an interrupted submission is marked in its record until it has a response', async () => {
    const first = aSubmission();
    const { userId } = first;
    await claimSubmission(stores.store, first, 0);
    await interrupt(stores.other, first);
    await interrupt(stores.other, aSubmission({ userId, idempotencyKey: 'another key' }));
    expect(await claimSubmission(stores.store, aSubmission({ userId }), 0)).toEqual({
      ...first,
      interrupted: true,
    });
    await answer(stores.store, first, '{}');
    await interrupt(stores.store, first);
    expect(await claimSubmission(stores.store, aSubmission({ userId }), 0)).toMatchObject({
      response: '{}',
    });
  });

  test('equal keys of different users are different keys', async () => {
    expect(
      await claimSubmission(stores.store, aSubmission({ userId: 'a', idempotencyKey: 'b:c' }), 0),
    ).toBeNull();
    expect(
      await claimSubmission(stores.store, aSubmission({ userId: 'a:b', idempotencyKey: 'c' }), 0),
    ).toBeNull();
    expect(
      await claimSubmission(stores.store, aSubmission({ userId: 'b', idempotencyKey: 'b:c' }), 0),
    ).toBeNull();
  });

  test('grants one of concurrent claims of a key, and returns its record to the others', async () => {
    const userId = newId();
    const taken = await runConcurrently(40, stores, (store) =>
      claimSubmission(store, aSubmission({ userId }), 0),
    );
    expect(taken.filter((holder) => holder === null)).toHaveLength(1);
    expect(new Set(taken.flatMap((holder) => holder?.jobId ?? [])).size).toBe(1);
  });

  test('an expired key can be claimed again, by one of many callers', async () => {
    const old = aSubmission();
    await claimSubmission(stores.store, old, 0);
    await answer(stores.store, old, 'old');
    const taken = await runConcurrently(20, stores, (store) =>
      claimSubmission(
        store,
        aSubmission({ userId: old.userId, createdAt: aTime + 100 }),
        aTime + 1,
      ),
    );
    expect(taken.filter((holder) => holder === null)).toHaveLength(1);
    expect(taken.flatMap((holder) => holder?.response ?? [])).toEqual([]);
  });

  test('a released key is free; a key with a response cannot be released', async () => {
    const submission = aSubmission();
    await claimSubmission(stores.store, submission, 0);
    await stores.other.submissions.remove(unanswered(submission));
    expect(await claimSubmission(stores.store, submission, 0)).toBeNull();
    await answer(stores.store, submission, 'first');
    await answer(stores.store, submission, 'second');
    await stores.store.submissions.remove(unanswered(submission));
    expect(await claimSubmission(stores.store, submission, 0)).toMatchObject({ response: 'first' });
  });
}
