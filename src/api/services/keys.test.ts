import { beforeEach, describe, expect, test } from 'vitest';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { MktaService } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { openCore, type TestCore } from '../../../test/support/rpc/core.ts';
import { sha256 } from '../../base/id.ts';
import { Fault } from '../../contract/fault.ts';
import { idempotencyMs } from '../../jobs/context.ts';

const { createApiKey: createOwnKey, listApiKeys } = AccountService.method;
const { createApiKey, createOperator, approveJob, revokeApiKey } = OperatorService.method;
const { submitVariantSold } = MktaService.method;
/** A job of 3 units, which cost 10 credits each. */
const threeUnits = variantSoldRequest(3) as never;
const fiveUnits = variantSoldRequest(5) as never;

let fixture: JobFixture;
let core: TestCore;
let userId: string;
beforeEach(async () => {
  fixture = await openJobFixture({ approval: true });
  core = await openCore(fixture.context);
  userId = await fixture.createUser(1_000);
  return () => fixture.close();
});

describe('createApiKey', () => {
  test('creates a key with scopes and a ceiling, which listApiKeys shows', async () => {
    const { caller } = await core.createKey(userId);
    const request = { name: 'ci', scopes: ['submit', 'submit'], creditCeiling: 50n };
    const { keyId } = await caller.call(createOwnKey, request);
    const { keys } = await caller.call(listApiKeys, {});
    expect(keys.find((key) => key.keyId === keyId)).toMatchObject({
      scopes: ['submit'],
      creditCeiling: 50n,
      creditsSpent: 0n,
      operatorRole: '',
    });
    const unlimited = keys.find((key) => key.keyId !== keyId)!;
    expect(unlimited.scopes).toEqual(['read', 'submit']);
    expect(unlimited.creditCeiling).toBeUndefined();
  });

  test('refuses a key to an account with 100 usable ones, live and test separately', async () => {
    const { caller, keyId } = await core.createKey(userId);
    const { operator } = core;
    for (let count = 1; count < 100; count += 1)
      await caller.call(createOwnKey, { name: `ci ${count}` });
    const refusal = { code: 'conflict', message: expect.stringContaining('100 usable keys') };
    await expect(caller.call(createOwnKey, { name: 'x' })).rejects.toMatchObject(refusal);
    await expect(operator.call(createApiKey, { userId, name: 'x' })).rejects.toMatchObject(refusal);
    await caller.call(createOwnKey, { name: 'x', mode: 'test' });
    const { keys } = await caller.call(listApiKeys, {});
    const other = keys.find((key) => key.keyId !== keyId && key.mode === 'live')!;
    await operator.call(revokeApiKey, { keyId: other.keyId });
    await caller.call(createOwnKey, { name: 'x' });
  });

  describe('with an Idempotency-Key', () => {
    const countKeys = async () =>
      (await core.operator.call(OperatorService.method.listApiKeys, { userId })).keys.length;

    test('returns the same key to a repeated call, and creates none', async () => {
      const { operator } = core;
      const create = (name: string, idempotencyKey: string) =>
        operator.call(createApiKey, { userId, name }, { idempotencyKey });
      const [first, again] = [await create('ci', 'k1'), await create('ci', 'k1')];
      expect(again).toEqual(first);
      expect(await countKeys()).toBe(1);
      await expect(create('other', 'k1')).rejects.toMatchObject({ code: 'conflict' });
      expect((await create('ci', 'k2')).keyId).not.toBe(first.keyId);
      await fixture.clock.advance(idempotencyMs + 1);
      expect((await create('ci', 'k1')).keyId).not.toBe(first.keyId);
      expect(await countKeys()).toBe(3);
    });

    test('is bound to the account, and stores no secret in clear', async () => {
      const { caller } = await core.createKey(userId);
      const other = await core.createKey(await fixture.createUser(0));
      const options = { idempotencyKey: 'k1' };
      const { keyId, apiKey } = await caller.call(createOwnKey, { name: 'ci' }, options);
      expect((await other.caller.call(createOwnKey, { name: 'ci' }, options)).keyId).not.toBe(
        keyId,
      );
      const { response } = (await fixture.context.store.submissions.get(userId, 'k1'))!;
      expect(response).toContain(keyId);
      expect(response).not.toContain(apiKey);
    });

    test('leaves one key if the first call did not end', async () => {
      const { submissions } = fixture.context.store;
      const { update } = submissions;
      const lost = new Fault('unavailable', 'The store is away.');
      submissions.update = () => Promise.reject(lost);
      const create = () =>
        core.operator.call(createApiKey, { userId, name: 'ci' }, { idempotencyKey: 'k1' });
      await expect(create()).rejects.toBe(lost);
      submissions.update = update;
      await expect(create()).rejects.toMatchObject({ code: 'conflict', retryAfterMs: 15_000 });
      await fixture.clock.advance(60_000);
      const created = await create();
      expect(await create()).toEqual(created);
      expect(await countKeys()).toBe(1);
      expect((await fixture.context.store.apiKeys.findByHash(sha256(created.apiKey)))?.key.id).toBe(
        created.keyId,
      );
    });
  });

  test('names an invalid scope and a negative ceiling', async () => {
    const { caller } = await core.createKey(userId);
    const problems = (request: object) =>
      caller.call(createOwnKey, { name: 'x', ...request }).catch((error) => error.problems);
    expect(await problems({ scopes: ['write'] })).toMatchObject([
      { loc: ['body', 'scopes', 0], type: 'enum' },
    ]);
    expect(await problems({ creditCeiling: -1n })).toMatchObject([
      { loc: ['body', 'credit_ceiling'], type: 'greater_than_equal' },
    ]);
  });

  test('rejects keys with a ceiling and keys that lack a scope', async () => {
    const limited = await core.createKey(userId, 'user', { creditCeiling: 5 });
    await expect(limited.caller.call(createOwnKey, { name: 'x' })).rejects.toMatchObject({
      code: 'forbidden',
      message: 'A key with a credit ceiling cannot create keys.',
    });
    const submitOnly = await core.createKey(userId, 'user', { scopes: ['submit'] });
    await expect(submitOnly.caller.call(createOwnKey, { name: 'x' })).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  test('gives an operator key its role, and rejects the fields of the other kind of account', async () => {
    const { operator } = await core.operator.call(createOperator, { name: 'Vic' });
    await core.operator.call(createApiKey, {
      userId: operator!.id,
      name: 'x',
      operatorRole: 'viewer',
    });
    await core.operator.call(createApiKey, { userId: operator!.id, name: 'y' });
    const { operators } = await core.operator.call(OperatorService.method.listOperators, {});
    const { keys } = operators.find(({ id }) => id === operator!.id)!;
    expect(Object.fromEntries(keys.map(({ name, operatorRole }) => [name, operatorRole]))).toEqual({
      x: 'viewer',
      y: 'admin',
    });
    const refused = (field: string) => ({
      problems: [{ loc: ['body', field], type: 'value_error' }],
    });
    const create = (request: object) => core.operator.call(createApiKey, { name: 'z', ...request });
    const { id } = operator!;
    await expect(create({ userId: id, scopes: ['read'] })).rejects.toMatchObject(refused('scopes'));
    await expect(create({ userId: id, creditCeiling: 0n })).rejects.toMatchObject(
      refused('credit_ceiling'),
    );
    await expect(create({ userId, operatorRole: 'viewer' })).rejects.toMatchObject(
      refused('operator_role'),
    );
  });
});

test('revokeApiKey keeps the last key with the role admin', async () => {
  const { operator } = await core.operator.call(createOperator, { name: 'Vic' });
  await core.createKey(operator!.id, 'operator', { operatorRole: 'approver' });
  const { operators } = await core.operator.call(OperatorService.method.listOperators, {});
  const [admin] = operators.flatMap(({ keys }) =>
    keys.filter((key) => key.operatorRole === 'admin'),
  );
  await expect(core.operator.call(revokeApiKey, { keyId: admin!.keyId })).rejects.toMatchObject({
    code: 'conflict',
    message:
      "This is the last operator key with the role 'admin'. Create another one before you revoke it.",
  });
});

describe('a credit ceiling', () => {
  test('rejects a submission above the remaining credits, and names the ceiling and the shortfall', async () => {
    const { caller, keyId } = await core.createKey(userId, 'user', { creditCeiling: 48 });
    await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(1));
    const { jobId } = await caller.call(submitVariantSold, threeUnits);
    await core.operator.call(approveJob, { jobId });
    await expect(caller.call(submitVariantSold, threeUnits)).rejects.toMatchObject({
      code: 'insufficient_credits',
      message:
        "The work costs 30 credits. The API key's credit ceiling is 48, of which 30 are spent: 12 short.",
      quota: { required: 30, current: 18 },
    });
    expect((await fixture.context.store.apiKeys.get(keyId))?.creditsSpent).toBe(30);
    expect(await fixture.balance(userId)).toBe(970);
  });

  test('is checked again when a job is approved; the job keeps waiting', async () => {
    const { caller, keyId } = await core.createKey(userId, 'user', { creditCeiling: 60 });
    const first = await caller.call(submitVariantSold, fiveUnits);
    const second = await caller.call(submitVariantSold, threeUnits);
    await core.operator.call(approveJob, { jobId: first.jobId });
    await expect(core.operator.call(approveJob, { jobId: second.jobId })).rejects.toMatchObject({
      code: 'insufficient_credits',
      quota: { required: 30, current: 10 },
    });
    expect((await fixture.context.store.jobs.get(second.jobId))?.state).toBe('awaiting_approval');
    await core.operator.call(JobService.method.cancelJob, { jobId: first.jobId });
    await core.operator.call(approveJob, { jobId: second.jobId });
    expect((await fixture.context.store.apiKeys.get(keyId))?.creditsSpent).toBe(30);
  });
});
