import { Fault } from '../../contract/fault.ts';
import { noJob } from '../../jobs/queries/read.ts';
import type { Job } from '../../store/documents.ts';
import { findJobByNumber } from '../../store/jobs.ts';
import type { Store } from '../../store/store.ts';
import { listUsers } from '../../store/users.ts';

/** Maximum owners that a search may match. */
const maxOwners = 1_000;

const taskNumber = /^[0-9]{1,15}$/;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns any user's job. Throws `not_found` for an unknown id. */
export async function anyJob(store: Pick<Store, 'jobs'>, { jobId }: { jobId: string }): Promise<Job> {
  const job = await store.jobs.get(jobId.toLowerCase());
  if (job === null) throw noJob(jobId);
  return job;
}

/** Returns the job with this id or task number, or null if there is none. */
export async function findJob(store: Pick<Store, 'jobs'>, text: string): Promise<Job | null> {
  if (uuid.test(text)) return store.jobs.get(text.toLowerCase());
  return taskNumber.test(text) ? findJobByNumber(store, Number(text)) : null;
}

/**
 * Returns the ids of users whose name or email address contains a text. Throws `invalid` if more than 1,000
 * match.
 */
export async function findOwners(store: Pick<Store, 'users'>, text: string): Promise<string[]> {
  const { items, next } = await listUsers(store, 'user', { limit: maxOwners }, text.trim());
  if (next !== null) {
    const msg = `'${text}' matches more than ${maxOwners} users: enter more of the name`;
    throw Fault.invalid(['body', 'search'], msg, 'value_error');
  }
  return items.map(({ id }) => id);
}
