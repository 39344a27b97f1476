import { beforeEach, expect, test } from 'vitest';
import { AccountService } from '../../gen/gleaner/account/v1/account_pb.ts';
import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { SessionService } from '../../gen/gleaner/session/v1/session_pb.ts';
import { openCore, type TestCore } from '../../test/support/core.ts';
import { type JobFixture, openJobFixture, variantSoldRequest } from '../../test/support/jobs.ts';
import { isAudited } from './audit-log.ts';

let fixture: JobFixture;
let core: TestCore;
beforeEach(async () => {
  fixture = await openJobFixture();
  core = await openCore(fixture.context);
  return () => fixture.close();
});

const { method } = OperatorService;
const entries = async (filter: { actorId?: string; target?: string } = {}) =>
  (await core.operator.call(method.listAuditEntries, filter)).entries;

test('records who approved a job, with the name of the operator', async () => {
  const { operator } = await core.operator.call(method.createOperator, { name: 'Maria' });
  const { keyId, caller } = await core.createKey(operator!.id, 'operator');
  const user = await fixture.createUser(1_000);
  const { jobId } = await fixture.submit(user, 'SubmitVariantSold', variantSoldRequest(3));
  await caller.call(method.approveJob, { jobId });
  expect(await entries({ target: jobId })).toMatchObject([
    {
      actorId: operator!.id,
      actorName: 'Maria',
      role: 'operator',
      keyId,
      action: 'ApproveJob',
      target: jobId,
      detail: JSON.stringify({ job_id: jobId }),
      outcome: 'ok',
    },
  ]);
  expect(await entries({ actorId: operator!.id })).toHaveLength(1);
  expect((await core.operator.call(method.getJob, { jobId })).job!.decidedBy).toBe('Maria');
});

test('records failures with their code, but no invalid requests and no reads', async () => {
  const jobId = '00000000-0000-4000-8000-00000000000a';
  await expect(core.operator.call(method.rejectJob, { jobId, reason: 'late' })).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(core.operator.call(method.rejectJob, { jobId: 'x' })).rejects.toMatchObject({
    code: 'invalid',
  });
  await core.operator.call(method.listUsers, {});
  expect(await entries()).toMatchObject([
    { action: 'RejectJob', outcome: 'not_found', detail: JSON.stringify({ job_id: jobId, reason: 'late' }) },
  ]);
});

test('records what was created, and the changes of users to their accounts', async () => {
  const { user } = await core.operator.call(method.createUser, { name: 'Ann' });
  const { caller } = await core.createKey(user!.id);
  await fixture.clock.advance(1);
  const created = await caller.call(AccountService.method.createApiKey, { name: 'ci' });
  await fixture.clock.advance(1);
  await caller.call(AccountService.method.revokeApiKey, { keyId: created.keyId });
  expect(await entries()).toMatchObject([
    { action: 'RevokeApiKey', actorName: 'Ann', role: 'user', target: created.keyId },
    { action: 'CreateApiKey', actorName: 'Ann', role: 'user', target: created.keyId },
    { action: 'CreateUser', role: 'operator', target: user!.id },
  ]);
  const details = (await entries({ target: created.keyId })).map(({ detail }) => detail);
  expect(details).toEqual([JSON.stringify({ key_id: created.keyId }), JSON.stringify({ name: 'ci' })]);
});

test('an action succeeds although its entry cannot be stored', async () => {
  fixture.context.store.appendAuditEntry = async () => {
    throw new Error('no space');
  };
  await core.operator.call(method.createUser, { name: 'Ann' });
  expect((await core.operator.call(method.listUsers, { search: 'Ann' })).users).toHaveLength(1);
});

test('isAudited() selects every method that changes accounts or is for operators', () => {
  const audited = [OperatorService, AccountService, SessionService, JobService].flatMap(({ methods }) =>
    methods.filter(isAudited).map(({ name }) => name),
  );
  expect(audited).toEqual([
    'CreateUser',
    'SuspendUser',
    'DeleteUser',
    'CreateOperator',
    'CreateApiKey',
    'RevokeApiKey',
    'GrantCredits',
    'ApproveJob',
    'RejectJob',
    'CreateFileLink',
    'StreamResults',
    'RetryJob',
    'CancelJob',
    'AcceptDrift',
    'TestNotification',
    'CreateApiKey',
    'RevokeApiKey',
    'SetWebhook',
    'RotateWebhookSecret',
    'TestWebhook',
    'RedeliverWebhook',
    'CreateSession',
    'EndSession',
    'DeleteFiles',
  ]);
});
