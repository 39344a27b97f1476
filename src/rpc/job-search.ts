import { Fault } from '../contract/fault.ts';
import type { Job } from '../store/documents.ts';
import type { Store } from '../store/store.ts';

/** Owners that a search may come to. */
const mostOwners = 1_000;

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** The job whose id or task id a text is; null when there is none. */
export async function jobNamed(
  store: Pick<Store, 'getJob' | 'getJobByNumber'>,
  text: string,
): Promise<Job | null> {
  const name = text.trim();
  if (uuid.test(name)) return store.getJob(name.toLowerCase());
  return /^[0-9]{1,15}$/.test(name) ? store.getJobByNumber(Number(name)) : null;
}

/** Users whose name or address holds a text. Fault `invalid` when they are too many to list jobs of. */
export async function ownersNamed(store: Pick<Store, 'listUsers'>, text: string): Promise<string[]> {
  const { items, next } = await store.listUsers('user', { limit: mostOwners }, text.trim());
  if (next !== null) {
    const msg = `More than ${mostOwners} users' names hold '${text}': say more of the name`;
    throw Fault.invalid(['body', 'search'], msg, 'value_error');
  }
  return items.map(({ id }) => id);
}
