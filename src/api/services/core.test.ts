import { create } from '@bufbuild/protobuf';
import { beforeEach, expect, test } from 'vitest';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { Health } from '../../../gen/health/v1/health_pb.ts';
import {
  type JobFixture,
  minFreeBytes,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { openCore, type TestCore } from '../../../test/support/rpc/core.ts';
import { createOperatorKey } from '../../access/operator.ts';
import { newId } from '../../base/id.ts';
import { services } from '../../contract/services.ts';
import { resolveJobTypes } from '../../jobs/job-types.ts';
import { approve } from '../../jobs/steps/decide.ts';
import { kinds } from '../../kinds/list.ts';
import { markets } from '../../markets/list.ts';
import { revokeApiKey } from '../../store/keys.ts';
import { suspendUser } from '../../store/users.ts';
import { createCore } from './core.ts';
import type { Call } from './handlers.ts';

let fixture: JobFixture;
let core: TestCore;
beforeEach(async () => {
  fixture = await openJobFixture();
  core = await openCore(fixture.context);
  return () => fixture.close();
});

test('createCore() throws if a method has no handler', () => {
  const jobTypes = resolveJobTypes(services, kinds, markets);
  expect(() => createCore({ ...fixture.context, jobTypes }, services)).not.toThrow();
  expect(() => createCore(fixture.context, [Health])).toThrow(
    'grpc.health.v1.Health.Check has no handler',
  );
});

test('resolveJobTypes() throws if a submit declares no result for units with files', () => {
  const unit = kinds.find(({ name }) => name === 'search_items')!.files;
  const changed = kinds.map((kind) => (kind.name === 'get_pc' ? { ...kind, files: unit } : kind));
  expect(() => resolveJobTypes(services, changed, markets)).toThrow('get_pc needs a result');
});

test('ready() names the disk while it is almost full', async () => {
  const served = createCore(fixture.context, []);
  await served.ready();
  fixture.setFreeBytes(0);
  await fixture.clock.advance(5_000);
  await expect(served.ready()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('disk'),
  });
  fixture.setFreeBytes(2 * minFreeBytes);
  await fixture.clock.advance(5_000);
  await served.ready();
});

test('an unknown page token is a problem of page_token at its place in the request', async () => {
  const account = AccountService.method;
  const operator = OperatorService.method;
  const { caller } = await core.createKey(await fixture.createUser(0));
  for (const pageToken of ['x', 'MTIz', '%00', '-1', 'é', 'A'.repeat(1_024), 'A'.repeat(1_025)]) {
    const type = 'string_pattern_mismatch';
    const problemAt = (place: string) => ({
      code: 'invalid',
      problems: [expect.objectContaining({ loc: [place, 'page_token'], type })],
    });
    for (const list of [account.listLedgerEntries, account.listDeliveries])
      await expect(caller.call(list, { pageToken }), pageToken).rejects.toMatchObject(
        problemAt('query'),
      );
    for (const list of [operator.listUsers, operator.listLedgerEntries, operator.listDeliveries])
      await expect(core.operator.call(list, { pageToken }), pageToken).rejects.toMatchObject(
        problemAt('body'),
      );
  }
});

test('a forged page token is accepted as a position or rejected as invalid', async () => {
  const operator = OperatorService.method;
  const places = [
    ['9999999999999999', 'x'],
    ['0', ''],
    ['0.000000001', '\u0000'],
    ['12', '😀'],
    ['12', '\ud800'],
    ['5', "' OR 1=1 --"],
  ];
  for (const [at, id] of places) {
    const pageToken = `${at}-${Buffer.from(id!).toString('base64url')}`;
    for (const list of [operator.listUsers, operator.listLedgerEntries, operator.listDeliveries]) {
      const listed = core.operator.call(list, { pageToken });
      const code = await listed.then(
        () => 'ok',
        (error) => error.code,
      );
      expect(code, `${list.name} ${at}-${id}`).toBe(id === '' ? 'invalid' : 'ok');
    }
  }
});

test.each([
  ['k'.repeat(256), 'string_too_long'],
  ['a\u007fb', 'string_pattern_mismatch'],
  ['', 'string_pattern_mismatch'],
])('refuses the Idempotency-Key %j of a call', async (idempotencyKey, type) => {
  const { grantCredits } = OperatorService.method;
  const userId = await fixture.createUser(0);
  const { admit, unary } = createCore(fixture.context, [OperatorService]);
  const key = await createOperatorKey(fixture.context.store, 'test', 1);
  const principal = await admit(grantCredits, `Bearer ${key}`);
  const request = create(grantCredits.input, { userId, amount: 5n });
  const grant = (given: string) =>
    unary(grantCredits, request, {
      principal,
      responseHeaders: {},
      waitMs: 0,
      idempotencyKey: given,
    } as Call);
  await expect(grant(idempotencyKey)).rejects.toMatchObject({
    code: 'invalid',
    problems: [{ loc: ['header', 'idempotency-key'], type }],
  });
  expect(await fixture.balance(userId)).toBe(0);
  await grant(`two words ${'k'.repeat(245)}`);
  expect(await fixture.balance(userId)).toBe(5);
});

test('refuses the Idempotency-Key of a grant for another amount or note', async () => {
  const { grantCredits } = OperatorService.method;
  const userId = await fixture.createUser(0);
  const { admit, unary } = createCore(fixture.context, [OperatorService]);
  const key = await createOperatorKey(fixture.context.store, 'test', 1);
  const principal = await admit(grantCredits, `Bearer ${key}`);
  const grant = (amount: bigint, note: string) => {
    const call = { principal, responseHeaders: {}, waitMs: 0, idempotencyKey: 'order 7' } as Call;
    return unary(grantCredits, create(grantCredits.input, { userId, amount, note }), call);
  };
  await grant(5n, 'invoice 7');
  for (const [amount, note] of [
    [6n, 'invoice 7'],
    [5n, 'invoice 8'],
  ] as const)
    await expect(grant(amount, note)).rejects.toMatchObject({
      code: 'conflict',
      message:
        "The Idempotency-Key 'order 7' was already used for a grant of 5 credits with the note 'invoice 7'.",
    });
  expect(await grant(5n, 'invoice 7')).toMatchObject({ balance: 5n });
});

test.each<[string, (key: string, user: string) => Promise<unknown>, RegExp]>([
  ['is revoked', (key) => revokeApiKey(fixture.context.store, key, fixture.clock.now()), /revoked/],
  [
    'is of a user who is suspended',
    (_, user) => suspendUser(fixture.context.store, user, 1),
    /suspended/,
  ],
])('a stream or wait ends when its key %s', async (_what, end, message) => {
  const userId = await fixture.createUser(1_000);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
  const { keyId, apiKey } = await core.createKey(userId);
  const { admit, stream, unary } = createCore(fixture.context, [JobService]);
  const { signal } = new AbortController();
  const { watchJob, getJob } = JobService.method;
  const principal = await admit(watchJob, `Bearer ${apiKey}`);
  const common = { principal, signal, responseHeaders: {} };
  const request = create(watchJob.input, { jobId });
  const refusal = { code: 'unauthenticated', message: expect.stringMatching(message) };

  const watching = stream(watchJob, request, { ...common, waitMs: 0 } as Call)[
    Symbol.asyncIterator
  ]();
  expect((await watching.next()).value).toMatchObject({ jobId, status: 'awaiting_approval' });
  const waiting = unary(getJob, create(getJob.input, { jobId }), {
    ...common,
    waitMs: 30_000,
  } as Call);
  const refused = expect(waiting).rejects.toMatchObject(refusal);
  await end(keyId, userId);
  await approve(fixture.context, jobId, newId());
  const next = expect(watching.next()).rejects.toMatchObject(refusal);
  await fixture.clock.advance(31_000);
  await Promise.all([next, refused]);
});
