import { newTestKey } from '../base/id.ts';
import { Fault } from '../contract/fault.ts';
import type { Mode, User } from '../store/documents.ts';
import type { Store } from '../store/store.ts';
import { modeOf, testAccountId } from './principal.ts';

/** Returns the mode of the keys and jobs of the account with an id. */
export async function readMode({ users }: Pick<Store, 'users'>, userId: string): Promise<Mode> {
  const user = await users.get(userId);
  return user === null ? 'live' : modeOf(user);
}

/**
 * Returns the id of a user's test account, which is created if it does not exist: an account
 * without credits, whose keys and jobs are in test mode. Everything of a user is stored under the
 * account's id, so test data never mixes with live data.
 */
async function ensureTestAccount(
  store: Pick<Store, 'users'>,
  { id, name }: Pick<User, 'id' | 'name'>,
  now: number,
): Promise<string> {
  const testId = testAccountId(id);
  await store.users.insert({
    id: testId,
    name,
    email: '',
    role: 'user',
    balance: 0,
    createdAt: now,
    suspendedAt: null,
    deletedAt: null,
    erased: false,
    testOf: id,
  });
  return testId;
}

export interface KeyAccountOptions {
  user: User;
  /** Requested mode. Empty for the account's own mode. */
  mode: string;
  /** True if the service has a sandbox. */
  sandbox: boolean;
  now: number;
}

/**
 * Returns the account of a key to create, and the secret of a key in test mode. Throws `forbidden`
 * for a live key of a test account, or without a sandbox; `invalid` for a test key of an operator.
 */
export async function keyAccount(
  store: Pick<Store, 'users'>,
  { user, mode, sandbox, now }: KeyAccountOptions,
): Promise<{ userId: string; secret?: string }> {
  const isTestAccount = modeOf(user) === 'test';
  if (isTestAccount && mode === 'live')
    throw new Fault('forbidden', 'A test key cannot create live keys. Use a live key.');
  if (!isTestAccount && mode !== 'test') return { userId: user.id };
  if (user.role === 'operator')
    throw Fault.invalid(
      ['body', 'mode'],
      'Value is only allowed for the key of a user',
      'value_error',
    );
  requireSandbox({ sandbox });
  const userId = isTestAccount ? user.id : await ensureTestAccount(store, user, now);
  return { userId, secret: newTestKey() };
}

/**
 * Creates the test account of a user, if it does not exist. Throws `forbidden` without a sandbox,
 * and for an operator.
 */
export async function openTestAccount(
  store: Pick<Store, 'users'>,
  user: User,
  { sandbox, now }: Pick<KeyAccountOptions, 'sandbox' | 'now'>,
): Promise<void> {
  if (user.role === 'operator') throw new Fault('forbidden', 'Operators have no test account.');
  requireSandbox({ sandbox });
  if (modeOf(user) === 'live') await ensureTestAccount(store, user, now);
}

/** Throws `forbidden` if the service has no sandbox. */
export function requireSandbox({ sandbox }: { sandbox: boolean }): void {
  if (!sandbox) throw new Fault('forbidden', 'This service has no sandbox (GLEANER_SANDBOX=off).');
}
