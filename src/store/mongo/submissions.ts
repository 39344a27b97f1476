import { Fault } from '../../contract/fault.ts';
import type { Submission } from '../documents.ts';
import type { JobStore } from '../store.ts';
import { unlessDuplicate } from './duplicates.ts';
import type { MongoEngine } from './engine.ts';
import type { SubmissionDocument } from './schema.ts';

/** Creates the MongoDB implementation of sequences and idempotency keys. */
export function submissionStore(
  engine: MongoEngine,
): Pick<
  JobStore,
  'nextNumber' | 'claimSubmission' | 'completeSubmission' | 'markSubmissionInterrupted' | 'deleteSubmission'
> {
  return {
    nextNumber: (sequence) =>
      engine.run(async ({ sequences }) => {
        const raise = () => sequences.findOneAndUpdate({ _id: sequence }, { $inc: { value: 1 } });
        const before = await raise();
        if (before) return before.value + 1;
        await unlessDuplicate(() => sequences.insertOne({ _id: sequence, value: 0 }));
        return (await raise())!.value + 1;
      }),

    claimSubmission: (submission, expiredBefore) =>
      engine.run(async ({ submissions }) => {
        await submissions.deleteMany({ createdAt: { $lt: expiredBefore } });
        const _id = submissionId(submission.userId, submission.idempotencyKey);
        for (let attempt = 0; attempt < 10; attempt += 1) {
          if (await unlessDuplicate(() => submissions.insertOne({ _id, ...submission }))) return null;
          const holder = await submissions.findOne({ _id });
          if (holder) return readSubmission(holder);
          // Deleted between the two operations: the key is free again.
        }
        throw new Fault(
          'unavailable',
          `idempotency key ${submission.idempotencyKey} is claimed and released too often`,
        );
      }),

    completeSubmission: (userId, idempotencyKey, response) =>
      engine.run(async ({ submissions }) => {
        await submissions.updateOne(
          { _id: submissionId(userId, idempotencyKey), response: null },
          { $set: { response } },
        );
      }),

    markSubmissionInterrupted: (userId, idempotencyKey) =>
      engine.run(async ({ submissions }) => {
        await submissions.updateOne(
          { _id: submissionId(userId, idempotencyKey), response: null },
          { $set: { interrupted: true } },
        );
      }),

    deleteSubmission: (userId, idempotencyKey) =>
      engine.run(async ({ submissions }) => {
        await submissions.deleteOne({ _id: submissionId(userId, idempotencyKey), response: null });
      }),
  };
}

/** Returns the id of an idempotency key. */
export function submissionId(userId: string, idempotencyKey: string): string {
  return JSON.stringify([userId, idempotencyKey]);
}

function readSubmission({ _id, ...submission }: SubmissionDocument): Submission {
  return submission;
}
