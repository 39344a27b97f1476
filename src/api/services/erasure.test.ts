import { beforeEach, describe, expect, test } from 'vitest';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import type { HttpBody } from '../../../gen/google/api/httpbody_pb.ts';
import { putAddress, storeDestination } from '../../../test/support/jobs/destinations.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { type CoreCaller, openCore, type TestCore } from '../../../test/support/rpc/core.ts';
import { newId } from '../../base/id.ts';
import { approve } from '../../jobs/steps/decide.ts';
import { aChange, anItem, anObservation, aRule } from '../../store/conformance/history-samples.ts';
import type { Job } from '../../store/documents.ts';
import { addObservations } from '../../store/history.ts';
import { listUsers } from '../../store/users.ts';
import { sweep } from '../../sweep/sweep.ts';

const { createUser, deleteUser, exportUser, getUser, suspendUser } = OperatorService.method;
const { createApiKey, grantCredits, listAuditEntries, createFileLink } = OperatorService.method;

let fixture: JobFixture;
let core: TestCore;
let userId: string;
let user: CoreCaller;
beforeEach(async () => {
  fixture = await openJobFixture();
  await fixture.startWorker();
  core = await openCore(fixture.context);
  userId = (await core.operator.call(createUser, { name: 'Ann Lee', email: 'ann@example.org' }))
    .user!.id;
  await core.operator.call(grantCredits, { userId, amount: 1_000n, note: 'for Ann' });
  user = (await core.createKey(userId)).caller;
  return () => fixture.close();
});

async function endedJob(): Promise<Job> {
  const { jobId } = await fixture.submit(
    userId,
    'SubmitVariantSold',
    variantSoldRequest(9, '30000000801'),
  );
  await approve(fixture.context, jobId, newId());
  return fixture.waitForState(jobId, 'completed');
}

const audited = async (target: string) =>
  (await core.operator.call(listAuditEntries, { target })).entries.map(({ action, outcome }) => ({
    action,
    outcome,
  }));

const linesOf = (
  segments: readonly HttpBody[],
): { type: string; data: Record<string, unknown> }[] =>
  Buffer.concat(segments.map(({ data }) => data))
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

describe('DeleteFiles', () => {
  const { deleteFiles, getJob, listFiles, listUnits, streamResults } = JobService.method;

  test('deletes the files of an ended job, keeps its counts, and is recorded', async () => {
    const { id: jobId } = await endedJob();
    const before = await user.call(getJob, { jobId });
    const deleted = await user.call(deleteFiles, { jobId });
    expect(deleted.filesDeletedAt).toBeDefined();
    expect(deleted).toEqual({ ...before, filesDeletedAt: deleted.filesDeletedAt });
    expect(await fixture.context.blobs.listJob(jobId)).toEqual([]);
    expect((await user.call(listFiles, { jobId })).files).toEqual([]);
    expect((await user.call(listUnits, { jobId })).units).toHaveLength(10);
    await fixture.clock.advance(1_000);
    expect(await user.call(deleteFiles, { jobId })).toEqual(deleted);
    expect(await audited(jobId)).toEqual([
      { action: 'DeleteFiles', outcome: 'ok' },
      { action: 'DeleteFiles', outcome: 'ok' },
    ]);
  });

  test('makes the results unavailable to the owner and to operators', async () => {
    const { id: jobId } = await endedJob();
    await user.call(deleteFiles, { jobId });
    const gone = {
      code: 'results_deleted',
      message: 'The results of this job were deleted on 2030-01-07.',
    };
    await expect(user.stream(streamResults, { jobId })).rejects.toMatchObject(gone);
    const results = core.operator.stream(streamResults, { jobId });
    await expect(results).rejects.toMatchObject(gone);
    await expect(core.operator.call(createFileLink, { jobId, name: 'x' })).rejects.toMatchObject(
      gone,
    );
    const item = { jobId, itemId: '30000000001' };
    await expect(fixture.read(userId, 'DownloadVariantSoldItem', item)).rejects.toMatchObject(gone);
    expect(await fixture.read(userId, 'RetrieveVariantSold', { jobId })).toMatchObject({
      status: 'completed',
    });
  });

  test("refuses a job that has not ended, and another user's job", async () => {
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    const message =
      'The job has not ended: it is awaiting_approval. Only files of ended jobs are deleted.';
    await expect(user.call(deleteFiles, { jobId })).rejects.toMatchObject({
      code: 'conflict',
      message,
    });
    const other = (await core.createKey(await fixture.createUser(0))).caller;
    await expect(other.call(deleteFiles, { jobId })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('DeleteUser', () => {
  test('refuses the keys at once, and removes everything but the ledger', async () => {
    const job = await endedJob();
    const { user: deleted } = await core.operator.call(deleteUser, { userId });
    expect(deleted).toMatchObject({
      id: userId,
      name: 'Deleted user',
      email: '',
      balance: 910n,
      suspended: true,
    });
    await expect(user.call(AccountService.method.getAccount, {})).rejects.toMatchObject({
      code: 'unauthenticated',
    });
    expect((await core.operator.call(deleteUser, { userId })).user).toEqual(deleted);
    await sweep(fixture.context);
    await fixture.clock.advance(60_000);
    await sweep(fixture.context);
    expect((await core.operator.call(getUser, { userId })).user).toEqual(deleted);
    expect(await fixture.context.store.jobs.get(job.id)).toBeNull();
    const exported = linesOf(await core.operator.stream(exportUser, { userId }));
    expect(exported.map(({ type }) => type)).toEqual([
      'account',
      'deleted_job',
      ...Array(3).fill('ledger_entry'),
      ...Array(5).fill('audit_entry'),
    ]);
    expect(JSON.stringify(exported)).not.toMatch(/Ann/);
    expect(await fixture.problems()).toEqual([]);
  });

  test('refuses a user with open jobs, an operator, and an unknown user', async () => {
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
    const message = `The user has open jobs, such as ${jobId}. Cancel them first.`;
    await expect(core.operator.call(deleteUser, { userId })).rejects.toMatchObject({
      code: 'conflict',
      message,
    });
    expect((await core.operator.call(getUser, { userId })).user).toMatchObject({ name: 'Ann Lee' });
    const [first] = (await listUsers(fixture.context.store, 'operator', { limit: 1 })).items;
    const operator = core.operator.call(deleteUser, { userId: first!.id });
    await expect(operator).rejects.toMatchObject({ code: 'conflict' });
    const unknown = core.operator.call(deleteUser, { userId: newId() });
    await expect(unknown).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a deleted user gets no keys and no credits, and cannot be resumed', async () => {
    await core.operator.call(deleteUser, { userId });
    const conflict = { code: 'conflict', message: `The user '${userId}' was deleted.` };
    for (const calling of [
      core.operator.call(createApiKey, { userId, name: 'x' }),
      core.operator.call(grantCredits, { userId, amount: 1n }),
      core.operator.call(suspendUser, { userId, suspended: true }),
    ])
      await expect(calling).rejects.toMatchObject(conflict);
  });
});

describe('ExportAccount', () => {
  test('streams every record of the account, without secrets', async () => {
    const job = await endedJob();
    const { store } = fixture.context;
    await store.trackedItems.upsert([anItem({ userId })]);
    await addObservations(store, [{ observation: anObservation({ userId }), previous: null }]);
    await store.itemChanges.writeAll([aChange(job.id, 0, { userId })]);
    await store.rules.insert(aRule({ userId }));
    await user.call(AccountService.method.setWebhook, { url: 'https://example.com/hook' });
    const webhook = (await fixture.context.store.webhooks.get(userId))!;
    const address = putAddress('https://files.example', { authorization: 'Bearer hidden' });
    const { secrets } = await storeDestination(fixture.context, userId, address);
    const lines = linesOf(await user.stream(AccountService.method.exportAccount, {}));
    const counts = Object.entries(Object.groupBy(lines, ({ type }) => type)).map(([type, its]) => [
      type,
      its!.length,
    ]);
    expect(Object.fromEntries(counts)).toEqual({
      account: 1,
      key: 1,
      webhook: 1,
      destination: 1,
      job: 1,
      unit: 10,
      // The merged file and the file of its only batch, which is a range of it.
      file: 2,
      item_change: 1,
      rule: 1,
      tracked_item: 1,
      observation: 1,
      ledger_entry: 3,
      audit_entry: 3,
    });
    expect(lines[0]).toMatchObject({
      type: 'account',
      data: {
        id: userId,
        name: 'Ann Lee',
        email: 'ann@example.org',
        created_at: '2030-01-07T04:00:00.000Z',
      },
    });
    const dataOf = (type: string) => lines.find((line) => line.type === type)!.data;
    expect(dataOf('job')).toMatchObject({ file: { content_type: 'application/json' } });
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect(dataOf('observation')).toMatchObject({ at: time });
    expect(dataOf('item_change')).toMatchObject({ at: time });
    const text = JSON.stringify(lines);
    expect(text).not.toContain(webhook.secret);
    expect(text).not.toContain(secrets);
    expect(text).not.toContain(
      (await fixture.context.store.apiKeys.find({ userId }, { newestFirst: true }))[0]!.hash,
    );
  });

  test('has each entry of the audit log once, without the addresses and keys of operators', async () => {
    const { store, clock } = fixture.context;
    const own = { actorId: userId, role: 'user', keyId: 'own-key', source: '192.0.2.1' } as const;
    const operators = {
      actorId: newId(),
      role: 'operator',
      keyId: 'operator-key',
      source: '192.0.2.9',
    } as const;
    for (const actor of [own, operators])
      await store.auditLog.insert({
        id: newId(),
        createdAt: clock.now(),
        ...actor,
        action: 'Inspect',
        target: userId,
        outcome: 'ok',
        detail: '{}',
      });
    const lines = linesOf(await user.stream(AccountService.method.exportAccount, {}));
    const entries = lines.filter(({ data }) => (data as { action?: string }).action === 'Inspect');
    expect(entries.map(({ data }) => data)).toEqual([
      expect.objectContaining({ actor_id: userId, source: '192.0.2.1', key_id: 'own-key' }),
      expect.not.objectContaining({ source: expect.anything(), key_id: expect.anything() }),
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/192\.0\.2\.9|operator-key/);
  });

  test('operators export any user, which is recorded', async () => {
    const lines = linesOf(await core.operator.stream(exportUser, { userId }));
    expect(lines[0]).toMatchObject({ type: 'account', data: { id: userId } });
    expect(await audited(userId)).toContainEqual({ action: 'ExportUser', outcome: 'ok' });
    const unknown = core.operator.stream(exportUser, { userId: newId() });
    await expect(unknown).rejects.toMatchObject({ code: 'not_found' });
  });
});
