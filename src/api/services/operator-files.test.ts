import { beforeEach, expect, test } from 'vitest';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { type CoreCaller, openCore } from '../../../test/support/rpc/core.ts';
import { newId } from '../../base/id.ts';

const { createFileLink, listAuditEntries, streamPages } = OperatorService.method;
const { listFiles } = JobService.method;

let fixture: JobFixture;
let operator: CoreCaller;
let logged: object[];
beforeEach(async () => {
  fixture = await openJobFixture({ approval: false });
  logged = [];
  const info = (fields: object, message: string) => logged.push({ ...fields, message });
  const log = Object.assign(Object.create(fixture.context.log), { info });
  operator = (await openCore({ ...fixture.context, log })).operator;
  return () => fixture.close();
});

const endedJob = async () => {
  const userId = await fixture.createUser(1_000);
  await fixture.startWorker();
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2));
  await fixture.waitForState(jobId, 'completed');
  return { jobId, userId };
};

test("an operator lists a user's files without links and without a log entry", async () => {
  const { jobId } = await endedJob();
  const { files } = await operator.call(listFiles, { jobId });
  expect(files[0]).toMatchObject({
    name: `full_${jobId}.json`,
    scope: 'job',
    items: 2,
    downloadUrl: '',
  });
  expect(files.map(({ downloadUrl }) => downloadUrl).join('')).toBe('');
  expect(logged).toEqual([]);
});

test("a link to a user's file is logged with the operator, the job and the file", async () => {
  const { jobId, userId } = await endedJob();
  const name = `full_${jobId}.json`;
  const { file } = await operator.call(createFileLink, { jobId, name });
  expect(file).toMatchObject({ name, items: 2, downloadUrl: expect.stringContaining(name) });
  expect(logged).toEqual([
    {
      operatorId: expect.any(String),
      jobId,
      userId,
      file: name,
      message: 'file link created by operator',
    },
  ]);
});

test.each([
  ['file', () => endedJob(), 'nothing.json'],
  ['job', async () => ({ jobId: newId() }), 'full.json'],
])('an unknown %s is not found, and nothing is logged', async (_what, jobOf, name) => {
  const { jobId } = await jobOf();
  await expect(operator.call(createFileLink, { jobId, name })).rejects.toMatchObject({
    code: 'not_found',
  });
  expect(logged).toEqual([]);
});

test('an operator reads the kept pages of a job, which is audited, and its owner does not', async () => {
  const userId = await fixture.createUser(1_000);
  const core = await openCore(fixture.context);
  await fixture.startWorker();
  const options = { keepPages: '1d' };
  const request = variantSoldRequest(2);
  const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', request, undefined, options);
  const job = await fixture.waitForState(jobId, 'completed');
  const chunks = await core.operator.stream(streamPages, { jobId });
  const bytes = chunks.reduce((sum, { data }) => sum + (data?.length ?? 0), 0);
  expect([chunks[0]!.contentType, bytes]).toEqual(['application/warc', job.counts!.pages!.bytes]);
  const { entries } = await core.operator.call(listAuditEntries, { action: 'StreamPages' });
  expect(entries).toMatchObject([{ target: jobId, outcome: 'ok' }]);
  const { caller } = await core.createKey(userId);
  await expect(caller.stream(streamPages, { jobId })).rejects.toMatchObject({ code: 'forbidden' });
  for (const { name } of (await operator.call(listFiles, { jobId })).files)
    expect(name).not.toContain('warc');
});
