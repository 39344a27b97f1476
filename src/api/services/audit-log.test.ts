import { getOption, hasOption } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, test } from 'vitest';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { MktaService } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { job, Step } from '../../../gen/gleaner/options/v1/options_pb.ts';
import { http } from '../../../gen/google/api/annotations_pb.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { openCore, type TestCore } from '../../../test/support/rpc/core.ts';
import { newId } from '../../base/id.ts';
import { marketServices, services } from '../../contract/services.ts';
import type { AuditEntry } from '../../store/audit-log.ts';
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
  expect((await core.operator.call(JobService.method.getJob, { jobId })).decidedBy).toBe('Maria');
});

test('records failures with their code, but no invalid requests and no reads', async () => {
  const jobId = '00000000-0000-4000-8000-00000000000a';
  await expect(
    core.operator.call(method.rejectJob, { jobId, reason: 'late' }),
  ).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(core.operator.call(method.rejectJob, { jobId: 'x' })).rejects.toMatchObject({
    code: 'invalid',
  });
  await core.operator.call(method.listUsers, {});
  expect(await entries()).toMatchObject([
    {
      action: 'RejectJob',
      outcome: 'not_found',
      detail: JSON.stringify({ job_id: jobId, reason: 'late' }),
    },
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
  expect(details).toEqual([
    JSON.stringify({ key_id: created.keyId }),
    JSON.stringify({ name: 'ci' }),
  ]);
});

test('lists the actions of everyone with a name, and on what has a short id', async () => {
  const ids: string[] = [];
  for (const name of ['Ann', 'ANN', 'Anna']) {
    const { user } = await core.operator.call(method.createUser, { name });
    const { caller } = await core.createKey(user!.id);
    await caller.call(AccountService.method.createApiKey, { name: 'ci' });
    ids.push(user!.id);
  }
  const byName = await entries({ actorId: 'ann' });
  expect(new Set(byName.map(({ actorId }) => actorId))).toEqual(new Set(ids.slice(0, 2)));
  expect(await entries({ actorId: 'Nobody' })).toEqual([]);
  const id = '7d3f0c11-0000-4000-8000-000000000001';
  await expect(core.operator.call(method.approveJob, { jobId: id })).rejects.toThrow();
  expect(await entries({ target: '7d3f0c11' })).toMatchObject([{ target: id }]);
  expect(await entries({ target: '7d3f0c1' })).toEqual([]);
});

test('records the origin of a webhook only, because its path can be a credential', async () => {
  const { user } = await core.operator.call(method.createUser, { name: 'Ann' });
  const { caller } = await core.createKey(user!.id);
  await caller.call(AccountService.method.setWebhook, {
    url: 'https://hooks.example/T0/secret?token=1',
  });
  await caller.call(AccountService.method.setWebhook, { url: '' });
  const details = (await entries({ actorId: user!.id })).map(({ detail }) => JSON.parse(detail));
  expect(details.map(({ url }) => url).sort()).toEqual(['', 'https://hooks.example/…']);
});

test('an action succeeds although its entry cannot be stored', async () => {
  fixture.context.store.auditLog.insert = async () => {
    throw new Error('no space');
  };
  await core.operator.call(method.createUser, { name: 'Ann' });
  expect((await core.operator.call(method.listUsers, { search: 'Ann' })).users).toHaveLength(1);
});

const user = { role: 'user' } as const;

test('isAudited() selects every method that changes something, and every use of a method of users by an operator', () => {
  expect(isAudited(JobService.method.getJob, user)).toBe(false);
  expect(JobService.methods.filter((method) => !isAudited(method, { role: 'operator' }))).toEqual(
    [],
  );
  const audited = services.flatMap(({ methods }) =>
    methods.filter((method) => isAudited(method, user)).map(({ name }) => name),
  );
  expect(audited.filter((name) => !/^Submit/.test(name))).toEqual([
    'TerminateGetPcBulk',
    'ReleaseJob',
    'DeleteFiles',
    'RetryJob',
    'RereadJob',
    'CancelJob',
    'CreateSchedule',
    'UpdateSchedule',
    'DeleteSchedule',
    'PauseSchedule',
    'ResumeSchedule',
    'RunSchedule',
    'CreateRule',
    'UpdateRule',
    'DeleteRule',
    'CreateApiKey',
    'RevokeApiKey',
    'SetWebhook',
    'RotateWebhookSecret',
    'TestWebhook',
    'RedeliverWebhook',
    'CreateDestination',
    'UpdateDestination',
    'TestDestination',
    'DeleteDestination',
    'CreateUser',
    'SuspendUser',
    'DeleteUser',
    'ExportUser',
    'CreateOperator',
    'CreateApiKey',
    'RevokeApiKey',
    'GrantCredits',
    'ApproveJob',
    'RejectJob',
    'CreateFileLink',
    'StreamPages',
    'AcceptDrift',
    'SkipComparison',
    'TestNotification',
    'CreateSession',
    'OpenTestAccount',
    'EndSession',
  ]);
  const submits = marketServices.flatMap(({ methods }) =>
    methods.filter((method) => getOption(method, job).step === Step.SUBMIT),
  );
  expect(submits.length).toBeGreaterThan(10);
  expect(submits.filter((method) => !isAudited(method, user))).toEqual([]);
});

test('every method that REST serves with another verb than GET is recorded', () => {
  const changing = services
    .flatMap(({ methods }) => methods)
    .filter((method) => hasOption(method, http) && getOption(method, http).pattern.case !== 'get');
  expect(changing.length).toBeGreaterThan(20);
  expect(changing.filter((method) => !isAudited(method, user)).map(({ name }) => name)).toEqual([]);
});

describe('calls that a key does not allow', () => {
  test('are recorded with their outcome', async () => {
    const { operator } = await core.operator.call(method.createOperator, { name: 'Vic' });
    const viewer = await core.createKey(operator!.id, 'operator', { operatorRole: 'viewer' });
    const userId = '00000000-0000-4000-8000-00000000000b';
    await expect(
      viewer.caller.call(method.grantCredits, { userId, amount: 5n, note: '' }),
    ).rejects.toMatchObject({ code: 'forbidden' });
    expect(await entries({ actorId: operator!.id })).toMatchObject([
      { action: 'GrantCredits', outcome: 'forbidden', keyId: viewer.keyId, target: userId },
    ]);
  });

  test('are recorded when they are refused before their request is read', async () => {
    const userId = await fixture.createUser(0);
    const { apiKey, keyId } = await core.createKey(userId, 'user', { scopes: ['read'] });
    const source = '203.0.113.7';
    await expect(
      core.admit(AccountService.method.createApiKey, `Bearer ${apiKey}`, { source }),
    ).rejects.toMatchObject({ code: 'forbidden' });
    await expect(core.admit(method.listUsers, `Bearer ${apiKey}`)).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect(await entries({ actorId: userId })).toMatchObject([
      { action: 'CreateApiKey', outcome: 'forbidden', keyId, source, detail: '', target: '' },
    ]);
  });
});

test('replaces long lists and files in the recorded request by their size', async () => {
  const userId = await fixture.createUser(10_000);
  const { caller } = await core.createKey(userId);
  const { jobId } = await caller.call(
    MktaService.method.submitVariantSold,
    variantSoldRequest(25) as never,
  );
  const file = Buffer.from('region,shop_id,item_id\nsg,1,2');
  const { taskId } = await caller.call(MktaService.method.submitGetPcBulk, { file });
  const byTarget = async (target: string) =>
    (await entries({ target })).map(({ detail }) => detail);
  expect(await byTarget(jobId)).toEqual([expect.stringContaining('"items":"25 entries"')]);
  expect(await byTarget(String(taskId))).toEqual([`{"file":"${file.length} bytes"}`]);
});

describe('exportAuditLog', () => {
  test('streams every matching entry as JSON Lines, newest first', async () => {
    const { operator } = await core.operator.call(method.createOperator, { name: 'Maria' });
    const { caller } = await core.createKey(operator!.id, 'operator');
    for (let turn = 0; turn < 501; turn += 1) {
      await fixture.clock.advance(1);
      await fixture.context.store.auditLog.insert({
        ...anAuditEntry(operator!.id, fixture.clock.now()),
        target: String(turn),
      });
    }
    const parts = await caller.stream(method.exportAuditLog, {
      format: 'jsonl',
      actorId: operator!.id,
    });
    expect(parts[0]!.contentType).toBe('application/x-ndjson');
    const lines = textOf(parts).trimEnd().split('\n');
    const found = lines.map((line) => JSON.parse(line) as Record<string, string>);
    expect(found.map(({ target }) => target)).toEqual(
      Array.from({ length: 501 }, (_, turn) => `${500 - turn}`),
    );
    expect(found[0]).toMatchObject({ actor_name: 'Maria', action: 'AcceptDrift', outcome: 'ok' });
  });

  test('escapes formulas in CSV and selects by time and outcome', async () => {
    const at = fixture.clock.now();
    const entry = (fields: object) =>
      fixture.context.store.auditLog.insert({ ...anAuditEntry('a', at), ...fields });
    await entry({ target: '=1+1', outcome: 'conflict' });
    await entry({ target: 'ok', createdAt: at + 1 });
    await entry({ target: 'late', outcome: 'conflict', createdAt: at + 2 });
    const request = {
      outcome: 'conflict',
      since: timestampFromMs(at),
      until: timestampFromMs(at + 2),
    };
    const parts = await core.operator.stream(method.exportAuditLog, request);
    const [head, ...lines] = textOf(parts).trimEnd().split('\r\n');
    expect(head).toBe(
      'time,actor_id,actor_name,role,key_id,action,target,source,outcome,detail,entry_id',
    );
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain("AcceptDrift,'=1+1,");
  });
});

const textOf = (parts: { data: Uint8Array }[]) =>
  Buffer.concat(parts.map(({ data }) => data)).toString();

function anAuditEntry(actorId: string, createdAt: number): AuditEntry {
  return {
    id: newId(),
    createdAt,
    actorId,
    role: 'operator',
    keyId: newId(),
    action: 'AcceptDrift',
    target: '',
    detail: '{}',
    source: '203.0.113.7',
    outcome: 'ok',
  };
}
