import { beforeEach, expect, test } from 'vitest';
import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../gen/gleaner/operator/v1/operator_pb.ts';
import { type CoreCaller, openCore } from '../../test/support/core.ts';
import { type JobFixture, openJobFixture, variantSoldRequest } from '../../test/support/jobs.ts';
import { newId } from '../base/id.ts';

const { exportRecords, getQuality, listAuditEntries, listFields, listRecords, streamResults } =
  OperatorService.method;

let fixture: JobFixture;
let operator: CoreCaller;
let owner: CoreCaller;
let other: CoreCaller;
let jobId: string;
let userId: string;
let logged: object[];
beforeEach(async () => {
  fixture = await openJobFixture({ approval: false });
  logged = [];
  const info = (fields: object, message: string) => logged.push({ ...fields, message });
  const log = Object.assign(Object.create(fixture.context.log), { info });
  const core = await openCore({ ...fixture.context, log });
  operator = core.operator;
  userId = await fixture.createUser(1_000);
  owner = (await core.createKey(userId)).caller;
  other = (await core.createKey(await fixture.createUser(0))).caller;
  await fixture.startWorker();
  ({ jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2)));
  await fixture.waitForState(jobId, 'completed');
  return () => fixture.close();
});

const textOf = (parts: readonly { data: Uint8Array }[]) =>
  Buffer.concat(parts.map(({ data }) => data)).toString();
const readEntry = () => ({
  operatorId: expect.any(String),
  jobId,
  userId,
  message: 'results read by operator',
});
const audited = async () => (await operator.call(listAuditEntries, { target: jobId })).entries;

test("reading a user's results is logged with the operator and the job", async () => {
  const lines = textOf(await operator.stream(streamResults, { jobId }))
    .trimEnd()
    .split('\n');
  expect(lines.map((line) => JSON.parse(line).index)).toEqual([0, 1]);
  expect(logged).toEqual([readEntry()]);
  expect(await audited()).toMatchObject([{ action: 'StreamResults', outcome: 'ok' }]);
});

test("an operator lists a user's records as the owner does, and the access is logged and audited", async () => {
  const request = { jobId, sort: '-unit_index', column: ['unit_index'], pageSize: 1 };
  const page = await operator.call(listRecords, request);
  expect(page.records).toMatchObject([{ unitIndex: 1, status: 'SUCCESS' }]);
  expect(page.total).toBe(2);
  expect(page).toEqual(await owner.call(JobService.method.listRecords, request));
  expect(logged).toEqual([readEntry()]);
  const [entry, ...more] = await audited();
  expect(entry).toMatchObject({ action: 'ListRecords', outcome: 'ok' });
  expect(JSON.parse(entry!.detail)).toMatchObject({ job_id: jobId, sort: '-unit_index' });
  expect(more).toEqual([]);
});

test("an operator exports a user's records as the owner does, and the access is logged and audited", async () => {
  const request = { jobId, format: 'csv', filter: ['unit_index>=1'] };
  const table = textOf(await operator.stream(exportRecords, request));
  expect(table.trimEnd().split('\r\n')).toHaveLength(2);
  expect(table).toBe(textOf(await owner.stream(JobService.method.exportRecords, request)));
  expect(logged).toEqual([readEntry()]);
  expect(await audited()).toMatchObject([{ action: 'ExportRecords', outcome: 'ok' }]);
});

test("an operator sees the fill and the violations of a user's records without an entry in the logs", async () => {
  const { fields, records } = await operator.call(listFields, { jobId });
  expect(records).toBe(2);
  expect(fields.some(({ fill }) => fill > 0)).toBe(true);
  const quality = await operator.call(getQuality, { jobId });
  expect(quality).toMatchObject({ records: 2n, invalid: 0n });
  expect(quality).toEqual(await owner.call(JobService.method.getQuality, { jobId }));
  expect(logged).toEqual([]);
  expect(await audited()).toEqual([]);
});

test("a user may read neither another user's records nor those of the operators' calls", async () => {
  await expect(other.call(JobService.method.listRecords, { jobId })).rejects.toMatchObject({
    code: 'not_found',
  });
  for (const method of [listRecords, listFields, getQuality])
    await expect(owner.call(method, { jobId })).rejects.toMatchObject({ code: 'forbidden' });
  const exported = owner.stream(exportRecords, { jobId, format: 'csv' });
  await expect(exported).rejects.toMatchObject({ code: 'forbidden' });
  expect(logged).toEqual([]);
});

test('an unknown job is not found, and nothing is logged', async () => {
  const request = { jobId: newId() };
  for (const method of [listRecords, listFields, getQuality])
    await expect(operator.call(method, request)).rejects.toMatchObject({ code: 'not_found' });
  const exported = operator.stream(exportRecords, { ...request, format: 'csv' });
  await expect(exported).rejects.toMatchObject({ code: 'not_found' });
  expect(logged).toEqual([]);
});
