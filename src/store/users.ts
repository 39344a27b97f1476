import type { Collections } from './collections.ts';
import type { Page, PageOptions } from './cursor.ts';
import type { Role, User } from './documents.ts';

type Users = Pick<Collections, 'users'>;

const deletedUserName = 'Deleted user';

/**
 * Lists the users of a role, newest first, without erased ones and test accounts. `search` selects
 * users whose name, email address, or id contains the text, ignoring case.
 */
export function listUsers(
  { users }: Users,
  role: Role,
  page: PageOptions,
  search = '',
): Promise<Page<User>> {
  const sought = search === '' ? undefined : { fields: ['name', 'email', 'id'], text: search };
  return users.list({ role, erased: false, testOf: null }, page, sought);
}

/**
 * Suspends a user at `at`, or ends the suspension if `at` is null. A suspended user keeps the
 * earlier time, and a deleted user stays suspended. Returns the user, or null if there is none with
 * this id.
 */
export async function suspendUser(
  { users }: Users,
  id: string,
  at: number | null,
): Promise<User | null> {
  const where = at === null ? { id, deletedAt: null } : { id, suspendedAt: null };
  return (await users.update(where, { suspendedAt: at })) ?? users.get(id);
}

/**
 * Begins the deletion of a user: removes the name and the email address, and suspends the user at
 * `at`. A user whose deletion has begun keeps the earlier time. Returns the user, or null if there
 * is none with this id. Can be repeated after a crash.
 */
export async function markUserDeleted(store: Users, id: string, at: number): Promise<User | null> {
  const change = {
    name: deletedUserName,
    email: '',
    erased: false,
    deletedAt: at,
  };
  await store.users.update({ id, deletedAt: null }, change);
  return suspendUser(store, id, at);
}
