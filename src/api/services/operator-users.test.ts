import { beforeEach, expect, test } from 'vitest';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import { type CoreCaller, openCore, type TestCore } from '../../../test/support/rpc/core.ts';
import { newId } from '../../base/id.ts';
import { listUsers as readUsers } from '../../store/users.ts';

const { getAccount } = AccountService.method;
const { createUser, getUser, listUsers, suspendUser } = OperatorService.method;
const { createOperator, listOperators } = OperatorService.method;
const { grantCredits, listApiKeys, listLedgerEntries, revokeApiKey, createApiKey } =
  OperatorService.method;

let fixture: JobFixture;
let core: TestCore;
let operator: CoreCaller;
beforeEach(async () => {
  fixture = await openJobFixture();
  core = await openCore(fixture.context);
  operator = core.operator;
  return () => fixture.close();
});

const made = async (name: string, email = '') =>
  (await operator.call(createUser, { name, email })).user!;

test('users are listed, and found by a part of their name', async () => {
  const ann = await made('Ann Lee', 'ann@example.org');
  const bob = await made('Bob');
  expect((await operator.call(getUser, { userId: ann.id })).user).toEqual(ann);
  expect(ann).toMatchObject({
    name: 'Ann Lee',
    email: 'ann@example.org',
    balance: 0n,
    suspended: false,
  });
  const found = async (search: string) =>
    (await operator.call(listUsers, { search })).users.map(({ id }) => id);
  expect(await found('LEE')).toEqual([ann.id]);
  expect(await found(bob.id.slice(4, 20))).toEqual([bob.id]);
  expect((await found('')).toSorted()).toEqual([ann.id, bob.id].toSorted());
  await expect(operator.call(getUser, { userId: newId() })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('refuses a text that is no email address', async () => {
  await expect(made('Ann', 'nonsense')).rejects.toMatchObject({
    code: 'invalid',
    problems: [
      { loc: ['body', 'email'], msg: '"nonsense" is not an email address', type: 'value_error' },
    ],
  });
});

test('rejects the keys of a suspended user until the suspension ends', async () => {
  const { id } = await made('Ann');
  const { caller } = await core.createKey(id);
  await caller.call(getAccount, {});
  expect((await operator.call(suspendUser, { userId: id, suspended: true })).user?.suspended).toBe(
    true,
  );
  const refused = { code: 'unauthenticated', message: 'The account is suspended.' };
  await expect(caller.call(getAccount, {})).rejects.toMatchObject(refused);
  expect((await operator.call(listUsers, { search: id })).users[0]?.suspended).toBe(true);
  const again = await operator.call(createApiKey, { userId: id, name: 'another' });
  expect(again.apiKey).toMatch(/^gl_/);
  await expect(operator.call(suspendUser, { userId: id })).rejects.toMatchObject({
    problems: [{ loc: ['body', 'suspended'], type: 'missing' }],
  });
  expect((await operator.call(suspendUser, { userId: id, suspended: false })).user?.suspended).toBe(
    false,
  );
  expect((await caller.call(getAccount, {})).account).toMatchObject({ id, suspended: false });
  await expect(
    operator.call(suspendUser, { userId: newId(), suspended: true }),
  ).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('operators cannot be suspended', async () => {
  const [first] = (await readUsers(fixture.context.store, 'operator', { limit: 1 })).items;
  const suspending = operator.call(suspendUser, { userId: first!.id, suspended: true });
  await expect(suspending).rejects.toMatchObject({ code: 'conflict' });
  await operator.call(getUser, { userId: first!.id });
});

test("operators list a user's keys, including revoked ones", async () => {
  const { id } = await made('Ann');
  const [one, other] = [await core.createKey(id), await core.createKey(id)];
  await operator.call(revokeApiKey, { keyId: one.keyId });
  const { keys } = await operator.call(listApiKeys, { userId: id });
  expect(new Set(keys.map(({ keyId }) => keyId))).toEqual(new Set([one.keyId, other.keyId]));
  expect(keys.filter(({ revokedAt }) => revokedAt).map(({ keyId }) => keyId)).toEqual([one.keyId]);
  await expect(operator.call(listApiKeys, { userId: newId() })).rejects.toMatchObject({
    code: 'invalid',
  });
});

test('operators list the ledger entries of one user, or of all with their user', async () => {
  const [ann, bob] = [await made('Ann'), await made('Bob')];
  for (const [turn, { id: userId }] of [ann, bob, ann].entries()) {
    await operator.call(grantCredits, { userId, amount: BigInt(turn + 1), note: `grant ${turn}` });
    await fixture.clock.advance(1);
  }
  const list = async (request: { userId?: string; pageSize?: number; pageToken?: string }) =>
    operator.call(listLedgerEntries, request);
  const shown = (entries: { userId: string; amount: bigint }[]) =>
    entries.map(({ userId, amount }) => [userId, amount]);
  expect(shown((await list({})).entries)).toEqual([
    [ann.id, 3n],
    [bob.id, 2n],
    [ann.id, 1n],
  ]);
  const first = await list({ userId: ann.id, pageSize: 1 });
  expect(shown(first.entries)).toEqual([[ann.id, 3n]]);
  const second = await list({ userId: ann.id, pageSize: 1, pageToken: first.nextPageToken });
  expect(shown(second.entries)).toEqual([[ann.id, 1n]]);
  expect(second.nextPageToken).toBe('');
});

test('operators are listed with their keys, and the last usable key cannot be revoked', async () => {
  const list = async () =>
    (await operator.call(listOperators, {})).operators.map(({ name, keys }) => [
      name,
      keys.map((key) => [key.name, key.revokedAt !== undefined]),
    ]);
  expect(await list()).toEqual([['operator', [['test', false]]]]);
  const [first] = (await operator.call(listOperators, {})).operators;
  const lastKey = { keyId: first!.keys[0]!.keyId };
  await expect(operator.call(revokeApiKey, lastKey)).rejects.toMatchObject({ code: 'conflict' });

  await fixture.clock.advance(1);
  const { operator: maria } = await operator.call(createOperator, { name: 'Maria' });
  expect(maria).toMatchObject({ name: 'Maria', keys: [] });
  await operator.call(createApiKey, { userId: maria!.id, name: 'phone' });
  await operator.call(revokeApiKey, lastKey);
  const { items } = await readUsers(fixture.context.store, 'operator', { limit: 10 });
  expect(items.map(({ name }) => name)).toEqual(['Maria', 'operator']);
  await expect(operator.call(listOperators, {})).rejects.toMatchObject({ code: 'unauthenticated' });
});
