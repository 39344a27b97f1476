import type { JobStore } from '../store.ts';
import type { Connection } from './connection.ts';
import { submissions } from './shapes.ts';

/** Creates the SQLite implementation of sequences and idempotency keys. */
export function submissionStore(
  engine: Connection,
): Pick<
  JobStore,
  'nextNumber' | 'claimSubmission' | 'completeSubmission' | 'markSubmissionInterrupted' | 'deleteSubmission'
> {
  return {
    nextNumber: async (sequence) =>
      engine.get<{ value: number }>(
        `INSERT INTO sequences (name, value) VALUES (?, 1)
         ON CONFLICT (name) DO UPDATE SET value = value + 1 RETURNING value`,
        sequence,
      )!.value,

    claimSubmission: async (submission, expiredBefore) =>
      engine.write(() => {
        engine.run('DELETE FROM submissions WHERE created_at < ?', expiredBefore);
        const holder = engine.document(
          submissions,
          `SELECT ${submissions.select} FROM submissions WHERE user_id = ? AND idempotency_key = ?`,
          submission.userId,
          submission.idempotencyKey,
        );
        if (holder) return holder;
        engine.run(
          `INSERT INTO submissions (${submissions.columns}) VALUES (${submissions.marks})`,
          ...submissions.values(submission),
        );
        return null;
      }),

    completeSubmission: async (userId, idempotencyKey, response) => {
      engine.run(
        `UPDATE submissions SET response = ?
         WHERE user_id = ? AND idempotency_key = ? AND response IS NULL`,
        response,
        userId,
        idempotencyKey,
      );
    },

    markSubmissionInterrupted: async (userId, idempotencyKey) => {
      engine.run(
        'UPDATE submissions SET interrupted = 1 WHERE user_id = ? AND idempotency_key = ? AND response IS NULL',
        userId,
        idempotencyKey,
      );
    },

    deleteSubmission: async (userId, idempotencyKey) => {
      engine.run(
        'DELETE FROM submissions WHERE user_id = ? AND idempotency_key = ? AND response IS NULL',
        userId,
        idempotencyKey,
      );
    },
  };
}
