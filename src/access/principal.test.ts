import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect, test } from 'vitest';
import { createManualClock, type ManualClock } from '../../test/support/time/clock.ts';
import { newId } from '../base/id.ts';
import { createLog } from '../base/log.ts';
import { Fault } from '../contract/fault.ts';
import { revokeApiKey } from '../store/keys.ts';
import { openSqliteStore } from '../store/sqlite/open.ts';
import type { Store } from '../store/store.ts';
import { suspendUser } from '../store/users.ts';
import { replaceMethods } from '../store/wrap.ts';
import { createKey } from './keys.ts';
import { createAuthenticator } from './principal.ts';

const minute = 60_000;
const log = createLog('silent', 'test');
const userId = newId();

let store: Store;
let clock: ManualClock;
let bearer: string;
let keyId: string;
beforeEach(async () => {
  store = openSqliteStore({ path: ':memory:' });
  clock = createManualClock(Date.UTC(2030, 0, 7));
  const user = { id: userId, name: 'Ana', email: '', role: 'user' as const, balance: 7 };
  await store.users.insert({
    ...user,
    createdAt: clock.now(),
    suspendedAt: null,
    deletedAt: null,
    erased: false,
    testOf: null,
  });
  const request = { userId, role: 'user' as const, name: 'laptop', createdAt: clock.now() };
  const made = await createKey(store, { ...request, expiresAt: clock.now() + 10 * minute });
  bearer = `Bearer ${made.apiKey}`;
  keyId = made.keyId;
  return () => store.close();
});

const lastUsed = async () => {
  await nextTurn();
  return (await store.apiKeys.find({ userId }, { newestFirst: true }))[0]?.lastUsedAt;
};

test('returns the user of a key and the credits of the account', async () => {
  const authenticate = createAuthenticator({ store, clock, log });
  expect(await authenticate(bearer)).toEqual({
    userId,
    holderId: userId,
    role: 'user',
    mode: 'live',
    keyId,
    scopes: ['read', 'submit'],
    operatorRole: null,
    creditCeiling: null,
    balance: 7,
    account: await store.users.get(userId),
  });
});

test('rejects revoked, expired and unknown keys, and any other credentials', async () => {
  const authenticate = createAuthenticator({ store, clock, log });
  for (const header of [
    undefined,
    null,
    '',
    'Basic YQ==',
    'Bearer',
    'Bearer gl_unknown',
    `${bearer} x`,
  ]) {
    await expect(authenticate(header)).rejects.toMatchObject({ code: 'unauthenticated' });
  }
  await clock.advance(10 * minute);
  await expect(authenticate(bearer)).rejects.toThrow('The API key has expired.');
  await revokeApiKey(store, keyId, clock.now());
  await expect(authenticate(bearer)).rejects.toThrow('The API key has been revoked.');
});

test("rejects a suspended user's keys immediately, and accepts them after reactivation", async () => {
  const authenticate = createAuthenticator({ store, clock, log });
  await authenticate(bearer);
  await suspendUser(store, userId, clock.now());
  const refused = { code: 'unauthenticated', message: 'The account is suspended.' };
  await expect(authenticate(bearer)).rejects.toMatchObject(refused);
  await suspendUser(store, userId, null);
  expect(await authenticate(bearer)).toMatchObject({ userId });
});

test('each process writes the last use of a key at most once a minute', async () => {
  const touched: number[] = [];
  const update: typeof store.apiKeys.update = (where, change, options) => {
    touched.push(change.lastUsedAt!);
    return store.apiKeys.update(where, change, options);
  };
  const [one, other] = [0, 1].map(() =>
    createAuthenticator({ store: replaceMethods(store, { apiKeys: { update } }), clock, log }),
  );
  const begin = clock.now();
  await Promise.all(Array.from({ length: 20 }, () => one!(bearer)));
  expect(await lastUsed()).toBe(begin);
  await clock.advance(minute - 1);
  await one!(bearer);
  await other!(bearer);
  expect(await lastUsed()).toBe(begin);
  await clock.advance(1);
  await one!(bearer);
  expect(await lastUsed()).toBe(begin + minute);
  expect(touched).toEqual([begin, begin + minute]);
});

test('does not record a use for a rejected key', async () => {
  const authenticate = createAuthenticator({ store, clock, log });
  await suspendUser(store, userId, clock.now());
  await expect(authenticate(bearer)).rejects.toThrow();
  expect(await lastUsed()).toBeNull();
});

test('a call neither waits for the last use to be written nor fails with it', async () => {
  const stuck = replaceMethods(store, { apiKeys: { update: () => new Promise<null>(() => {}) } });
  await createAuthenticator({ store: stuck, clock, log })(bearer);
  let tried = 0;
  const away = async () => {
    tried += 1;
    throw new Fault('unavailable', 'The store is away.');
  };
  const authenticate = createAuthenticator({
    store: replaceMethods(store, { apiKeys: { update: away } }),
    clock,
    log,
  });
  for (let turn = 0; turn < 3; turn++) await authenticate(bearer);
  await nextTurn();
  expect(tried).toBe(1);
});

test('reports a key with invalid characters as invalid, and an empty one as missing', async () => {
  const authenticate = createAuthenticator({ store, clock, log });
  await expect(authenticate('Bearer gl_…')).rejects.toThrow(
    /^The API key is not valid: it contains/,
  );
  await expect(authenticate('Bearer ')).rejects.toThrow(
    'The API key is missing: send the header Authorization: Bearer <key>.',
  );
});
