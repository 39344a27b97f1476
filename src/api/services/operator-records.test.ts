import { beforeEach, expect, test } from 'vitest';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { MktaService } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { type CoreCaller, openCore } from '../../../test/support/rpc/core.ts';
import { newId } from '../../base/id.ts';

const { exportRecords, getQuality, listFields, listRecords, releaseJob, streamResults } =
  JobService.method;
const { listAuditEntries } = OperatorService.method;

let fixture: JobFixture;
let operator: CoreCaller;
let owner: CoreCaller;
let other: CoreCaller;
let jobId: string;
let userId: string;
let worker: { stop(): Promise<void> };
beforeEach(async () => {
  fixture = await openJobFixture({ approval: false });
  const core = await openCore(fixture.context);
  operator = core.operator;
  userId = await fixture.createUser(1_000);
  owner = (await core.createKey(userId)).caller;
  other = (await core.createKey(await fixture.createUser(0))).caller;
  worker = await fixture.startWorker();
  ({ jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2)));
  await fixture.waitForState(jobId, 'completed');
  return () => fixture.close();
});

const textOf = (segments: readonly { data: Uint8Array }[]) =>
  Buffer.concat(segments.map(({ data }) => data)).toString();
const audited = async () => (await operator.call(listAuditEntries, { target: jobId })).entries;

test("reading a user's results is recorded with the operator and the job", async () => {
  const lines = textOf(await operator.stream(streamResults, { jobId }))
    .trimEnd()
    .split('\n');
  expect(lines.map((line) => JSON.parse(line).index)).toEqual([0, 1]);
  expect(await audited()).toMatchObject([{ action: 'StreamResults', outcome: 'ok' }]);
});

test("an operator lists a user's records as the owner does, and the access is recorded", async () => {
  const request = { jobId, sort: '-unit_index', column: ['unit_index'], pageSize: 1 };
  const page = await operator.call(listRecords, request);
  expect(page.records).toMatchObject([{ unitIndex: 1, status: 'SUCCESS' }]);
  expect(page.total).toBe(2);
  expect(page).toEqual(await owner.call(listRecords, request));
  const [entry, ...more] = await audited();
  expect(entry).toMatchObject({ action: 'ListRecords', outcome: 'ok' });
  expect(JSON.parse(entry!.detail)).toMatchObject({ job_id: jobId, sort: '-unit_index' });
  expect(more).toEqual([]);
});

test("an operator exports a user's records as the owner does, and the access is recorded", async () => {
  const request = { jobId, format: 'csv', filter: ['unit_index>=1'] };
  const table = textOf(await operator.stream(exportRecords, request));
  expect(table.trimEnd().split('\r\n')).toHaveLength(2);
  expect(table).toBe(textOf(await owner.stream(exportRecords, request)));
  expect(await audited()).toMatchObject([{ action: 'ExportRecords', outcome: 'ok' }]);
});

test("an operator sees the fill and the violations of a user's records, and a repeated read is recorded once", async () => {
  const { fields, records } = await operator.call(listFields, { jobId });
  expect(records).toBe(2);
  expect(fields.some(({ fill }) => fill > 0)).toBe(true);
  const quality = await operator.call(getQuality, { jobId });
  expect(quality).toMatchObject({ records: 2n, invalid: 0n });
  expect(quality).toEqual(await owner.call(getQuality, { jobId }));
  await operator.call(getQuality, { jobId });
  expect((await audited()).map(({ action }) => action).toSorted()).toEqual([
    'GetQuality',
    'ListFields',
  ]);
  await fixture.clock.advance(3_600_000);
  await operator.call(getQuality, { jobId });
  expect(await audited()).toHaveLength(3);
});

test('an operator reads a job through the endpoints of its kind as the owner does, and each access is recorded', async () => {
  const { downloadVariantSold, downloadVariantSoldItem, retrieveVariantSold } = MktaService.method;
  for (const method of [retrieveVariantSold, downloadVariantSold]) {
    const shown = await operator.call(method, { jobId });
    expect(shown).toEqual(await owner.call(method, { jobId }));
    expect(shown).toMatchObject({ status: 'completed' });
  }
  const [unit] = (await operator.call(JobService.method.listUnits, { jobId })).units;
  const item = { jobId, itemId: unit!.key };
  expect(await operator.call(downloadVariantSoldItem, item)).toEqual(
    await owner.call(downloadVariantSoldItem, item),
  );
  await operator.call(retrieveVariantSold, { jobId });
  await expect(
    operator.call(MktaService.method.retrieveSearchItems, { jobId }),
  ).rejects.toMatchObject({
    code: 'not_found',
  });
  expect((await audited()).map(({ action, outcome }) => `${action} ${outcome}`).toSorted()).toEqual(
    [
      'DownloadVariantSold ok',
      'DownloadVariantSoldItem ok',
      'ListUnits ok',
      'RetrieveSearchItems not_found',
      'RetrieveVariantSold ok',
      'RetrieveVariantSold ok',
    ],
  );
});

test('an operator lists the tasks of every user, and terminates one', async () => {
  const { listGetPcBulk, retrieveGetPcBulk, terminateGetPcBulk } = MktaService.method;
  await worker.stop();
  const file = Buffer.from('region,shop_id,item_id\nsg,7,30000000001\n').toString('base64');
  const { taskId } = await fixture.submit(userId, 'SubmitGetPcBulk', { file });
  expect((await operator.call(listGetPcBulk, {})).tasks).toEqual([taskId]);
  expect((await other.call(listGetPcBulk, {})).tasks).toEqual([]);
  for (const method of [retrieveGetPcBulk, terminateGetPcBulk])
    await expect(other.call(method, { taskId })).rejects.toMatchObject({ code: 'not_found' });
  await operator.call(terminateGetPcBulk, { taskId });
  expect(await operator.call(retrieveGetPcBulk, { taskId })).toMatchObject({
    status: 'terminated',
  });
});

test("a user may not read another user's records, nor name another user in a list", async () => {
  await expect(other.call(listRecords, { jobId })).rejects.toMatchObject({ code: 'not_found' });
  const { listJobs } = JobService.method;
  for (const selection of [{ userId }, { mode: 'live' }])
    await expect(other.call(listJobs, selection)).rejects.toMatchObject({ code: 'forbidden' });
  expect((await owner.call(listJobs, { userId })).jobs).toHaveLength(1);
  for (const search of [jobId, 'Test'])
    expect((await other.call(listJobs, { search })).jobs).toEqual([]);
});

test('an operator finds a job by its task number, and may not delete its files', async () => {
  await expect(operator.call(JobService.method.deleteFiles, { jobId })).rejects.toMatchObject({
    code: 'forbidden',
    message: 'This call needs the key of a user.',
  });
  await expect(operator.call(releaseJob, { jobId })).rejects.toMatchObject({ code: 'conflict' });
  const item = { region: 'sg', itemId: '30000000001', shopId: '77' };
  const { taskId } = await fixture.submit(userId, 'SubmitGetPc', item);
  const found = await operator.call(JobService.method.getJob, { jobId: String(taskId) });
  expect(found).toMatchObject({ kind: 'get_pc', userName: 'Test' });
  expect(await owner.call(JobService.method.getJob, { jobId: String(taskId) })).toMatchObject({
    jobId: found.jobId,
  });
  await expect(
    other.call(JobService.method.getJob, { jobId: String(taskId) }),
  ).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(operator.call(JobService.method.getJob, { jobId: 'x' })).rejects.toMatchObject({
    problems: [{ loc: ['path', 'job_id'], type: 'string_pattern_mismatch' }],
  });
});

test('an unknown job is not found', async () => {
  const request = { jobId: newId() };
  for (const method of [listRecords, listFields, getQuality])
    await expect(operator.call(method, request)).rejects.toMatchObject({ code: 'not_found' });
  const exported = operator.stream(exportRecords, { ...request, format: 'csv' });
  await expect(exported).rejects.toMatchObject({ code: 'not_found' });
});
