import { setImmediate as nextTurn } from 'node:timers/promises';
import { testAccountId } from '../../access/test-account.ts';
import { Fault } from '../../contract/fault.ts';
import { allOf } from '../../store/cursor.ts';
import type { Job, User } from '../../store/documents.ts';
import type { StoreUse } from '../context.ts';
import { type CancelContext, cancel } from './cancel.ts';
import { type DeleteJobContext, deleteJob } from './delete-job.ts';

/** Dependencies of this module. */
export type EraseUserContext = StoreUse<
  'eraseUserRecords' | 'listJobs' | 'markUserDeleted' | 'markUserErased'
> &
  CancelContext &
  DeleteJobContext;

/** Records erased per call of the store. */
const chunkSize = 500;
const pageSize = 100;
/** Maximum duration of one call, so that the sweep continues with its other steps. */
const maxMs = 5_000;
/**
 * Time between the start of a deletion and its end. Calls that were authenticated before the start may create records
 * until then.
 */
export const eraseDelayMs = 60_000;

/**
 * Erases a deleted user: keys and other records, then the jobs. Deletes the user's test account, which is then erased like
 * a user. Cancels jobs that a call submitted while the deletion
 * began. The ledger remains without notes. Returns true at the end, which is at least a minute after the start;
 * otherwise the sweep calls again. Each step can be repeated after a crash.
 */
export async function eraseUser(context: EraseUserContext, user: User): Promise<boolean> {
  const { store, clock, log } = context;
  await store.markUserDeleted(testAccountId(user.id), clock.now());
  await eraseRecords(context, user.id);
  const until = clock.now() + maxMs;
  let isEmpty = true;
  for await (const job of allOf((page) => store.listJobs({ userId: user.id }, page), pageSize)) {
    if (clock.now() >= until) return false;
    if (!(await eraseJob(context, job))) isEmpty = false;
  }
  if (!isEmpty || user.deletedAt === null || clock.now() - user.deletedAt < eraseDelayMs) return false;
  // Jobs that were cancelled meanwhile have posted refunds.
  await eraseRecords(context, user.id);
  await store.markUserErased(user.id);
  log.info({ userId: user.id }, 'user erased');
  return true;
}

async function eraseRecords({ store }: EraseUserContext, userId: string): Promise<void> {
  while ((await store.eraseUserRecords(userId, chunkSize)) > 0) await nextTurn();
}

/** Deletes an ended job, and cancels one that has not ended. Returns whether the job is deleted. */
async function eraseJob(context: EraseUserContext, job: Job): Promise<boolean> {
  if (job.finishedAt !== null) return deleteJob(context, job);
  try {
    await cancel(context, job.id, { operatorId: null, reason: 'The user was deleted.' });
  } catch (error) {
    // The job is being submitted or is ending: the next call deletes it.
    if (!['conflict', 'not_found'].includes(Fault.from(error).code)) throw error;
  }
  return false;
}
