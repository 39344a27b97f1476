import {
  create,
  type DescMethod,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import type { HttpBody } from '../../../gen/google/api/httpbody_pb.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { newId } from '../../base/id.ts';
import { Fault } from '../../contract/fault.ts';
import { readRecords, writeRecords } from '../../jobs/records.ts';
import { approve, reject } from '../../jobs/steps/decide.ts';
import { replaceMethods } from '../../store/wrap.ts';
import type { Call, Handlers } from './handlers.ts';
import { jobServiceHandlers } from './jobs.ts';
import { operatorHandlers } from './operator.ts';

const jobs = JobService.method;
const operators = OperatorService.method;
const operatorId = newId();
/** Ids of items that do not exist end with this. */
const gone = ['30000000801', '30000001801'];

let fixture: JobFixture;
let handlers: Handlers;
let operatorCalls: Handlers;
let userId: string;
beforeEach(async () => {
  fixture = await openJobFixture();
  handlers = jobServiceHandlers(fixture.context);
  operatorCalls = operatorHandlers(fixture.context);
  userId = await fixture.createUser(10_000);
});
afterEach(() => fixture.close());

const callOf = (id: string, role = 'user') =>
  ({
    principal: { userId: id, role, keyId: '' },
    waitMs: 0,
    responseHeaders: {},
  }) as unknown as Call;

async function call<M extends DescMethod>(
  method: M,
  request: MessageInitShape<M['input']>,
  as = method.parent === OperatorService ? operatorId : userId,
  role = 'user',
) {
  const known = method.parent === OperatorService ? operatorCalls : handlers;
  const response = await known.unary.get(method)!(create(method.input, request), callOf(as, role));
  return response as MessageShape<M['output']>;
}

const asOperator = <M extends DescMethod>(method: M, request: MessageInitShape<M['input']>) =>
  call(method, request, operatorId, 'operator');

async function textOf<M extends DescMethod>(method: M, request: MessageInitShape<M['input']>) {
  const messages: HttpBody[] = [];
  for await (const message of handlers.stream.get(method)!(
    create(method.input, request),
    callOf(userId),
  ))
    messages.push(message as HttpBody);
  return {
    type: messages[0]!.contentType,
    text: Buffer.concat(messages.map(({ data }) => data)).toString(),
    messages,
  };
}

const linesOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** Submits a variant-sold job of existing items, then two that do not exist. */
async function submitted(plain: number): Promise<string> {
  const { jobId } = await fixture.submit(
    userId,
    'SubmitVariantSold',
    variantSoldRequest(plain, ...gone),
  );
  return jobId;
}

async function ended(plain: number): Promise<string> {
  const jobId = await submitted(plain);
  await approve(fixture.context, jobId, operatorId);
  await fixture.startWorker();
  await fixture.waitForState(jobId, 'completed', 'partial_complete');
  return jobId;
}

test('getJob returns properties, progress and the retrieve path', async () => {
  const jobId = await submitted(60);
  const waiting = await call(jobs.getJob, { jobId: jobId.toUpperCase() });
  expect(waiting).toMatchObject({
    jobId,
    userId,
    kind: 'variant_sold',
    market: 'mkta',
    region: 'sg',
    status: 'awaiting_approval',
    ended: false,
    cost: 620,
    unitPrice: 10,
    total: 62,
    batches: 2,
    batchesDone: 0,
    retrievePath: `/v1/mkta/variant_sold_v1/retrieve/${jobId}`,
    retryOf: '',
    rereadOf: '',
    userName: '',
  });
  expect([waiting.taskId, waiting.userBalance, waiting.startedAt, waiting.finishedAt]).toEqual(
    Array(4).fill(undefined),
  );
  await approve(fixture.context, jobId, operatorId);
  await fixture.startWorker();
  await fixture.waitForState(jobId, 'completed');
  const shown = await call(jobs.getJob, { jobId });
  expect(shown).toMatchObject({
    status: 'completed',
    ended: true,
    success: 60,
    failed: 2,
    refunded: 20,
  });
  expect([shown.batchesDone, shown.startedAt, shown.finishedAt]).toEqual([
    2,
    expect.anything(),
    expect.anything(),
  ]);
  const task = await fixture.submit(userId, 'SubmitGetPc', {
    region: 'sg',
    itemId: gone[0]!,
    shopId: '77',
  });
  const { jobs: listed } = await call(jobs.listJobs, { kind: 'get_pc' });
  expect(listed.map((job) => [job.taskId, job.retrievePath])).toEqual([
    [BigInt(task.taskId), `/v1/mkta/get_pc/retrieve/${task.taskId}`],
  ]);
});

test('listJobs pages through own jobs by status, kind and marketplace', async () => {
  const ids: string[] = [];
  for (let turn = 0; turn < 3; turn++) {
    ids.unshift(await submitted(1));
    await fixture.clock.advance(1);
  }
  await reject(fixture.context, ids[1]!, operatorId, 'No.');
  const stranger = await fixture.createUser(0);
  const list = async (request: object, as = userId) =>
    (await call(jobs.listJobs, request, as)).jobs.map(({ jobId }) => jobId);
  expect(await list({})).toEqual(ids);
  expect(await list({}, stranger)).toEqual([]);
  const first = await call(jobs.listJobs, { pageSize: 2 });
  expect(first.jobs).toHaveLength(2);
  expect(await list({ pageSize: 2, pageToken: first.nextPageToken })).toEqual([ids[2]]);
  expect(await list({ status: 'rejected' })).toEqual([ids[1]]);
  expect(await list({ status: 'awaiting_approval', market: 'mkta' })).toEqual([ids[0], ids[2]]);
  expect(await list({ kind: 'get_pc' })).toEqual([]);
});

test("listJobs finds the caller's jobs by id, its start, task number, and a text in their name", async () => {
  const named = async (name: string) =>
    (await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(1), undefined, { name }))
      .jobId;
  const prices = await named('Weekly prices');
  await named('Stock');
  const { taskId } = await fixture.submit(userId, 'SubmitGetPc', {
    region: 'sg',
    itemId: gone[0]!,
    shopId: '77',
  });
  const stranger = await fixture.createUser(0);
  const search = async (text: string, request: object = {}, as = userId) =>
    (await call(jobs.listJobs, { search: text, ...request }, as)).jobs;
  expect(await search(' PRICES ')).toMatchObject([
    { jobId: prices, options: { name: 'Weekly prices' } },
  ]);
  expect(await search('prices', { kind: 'get_pc' })).toEqual([]);
  expect(await search(prices.toUpperCase())).toMatchObject([{ jobId: prices }]);
  const byShortId = await search(prices.slice(0, 8).toUpperCase());
  expect(byShortId.map(({ jobId }: { jobId: string }) => jobId)).toContain(prices);
  expect(await search(prices.slice(0, 7))).toEqual([]);
  expect(await search(String(taskId))).toMatchObject([{ kind: 'get_pc' }]);
  expect(await search('  ')).toHaveLength(3);
  for (const text of [prices, prices.slice(0, 8), String(taskId), 'prices'])
    expect(await search(text, {}, stranger)).toEqual([]);
  await fixture.context.store.jobs.move(prices, ['awaiting_approval'], 'submitted', 0);
  for (const text of [prices, 'prices']) expect(await search(text)).toEqual([]);
});

test("returns not_found for another user's job and for an unfinished submit", async () => {
  const jobId = await submitted(1);
  const stranger = await fixture.createUser(0);
  for (const method of [
    jobs.getJob,
    jobs.listUnits,
    jobs.listFaults,
    jobs.getProgress,
    jobs.listFiles,
  ]) {
    await expect(call(method, { jobId }, stranger)).rejects.toMatchObject({ code: 'not_found' });
    await expect(call(method, { jobId: newId() })).rejects.toMatchObject({ code: 'not_found' });
  }
  const written = await fixture.context.store.jobs.move(
    jobId,
    ['awaiting_approval'],
    'submitted',
    0,
  );
  expect(written?.state).toBe('submitted');
  await expect(call(jobs.getJob, { jobId })).rejects.toMatchObject({ code: 'not_found' });
  expect((await call(jobs.listJobs, {})).jobs).toEqual([]);
});

describe('a job charged at approval', () => {
  const creditsOf = async (jobId: string) => {
    const { charged, refunded, success, failed, notRun } = await call(jobs.getJob, { jobId });
    return { charged, refunded, success, failed, notRun };
  };

  test('is not charged if it is rejected, and its units count as not run', async () => {
    const jobId = await submitted(1);
    expect(await creditsOf(jobId)).toMatchObject({ charged: 0, failed: 0, notRun: 0 });
    await reject(fixture.context, jobId, operatorId, 'No.');
    expect(await creditsOf(jobId)).toEqual({
      charged: 0,
      refunded: 0,
      success: 0,
      failed: 3,
      notRun: 3,
    });
  });

  test('is charged once approved, and failed units count as run', async () => {
    const jobId = await ended(1);
    expect(await creditsOf(jobId)).toEqual({
      charged: 30,
      refunded: 20,
      success: 1,
      failed: 2,
      notRun: 0,
    });
  });
});

test('a rejected job that was charged at submit shows its charge and refund', async () => {
  const urls = ['https://mkta.sg/search?keyword=lamp%20006'];
  const { jobId } = await fixture.submit(userId, 'SubmitSearchItems', { urls });
  const { charged } = await call(jobs.getJob, { jobId });
  expect(charged).toBeGreaterThan(0);
  await reject(fixture.context, jobId, operatorId, 'No.');
  expect(await call(jobs.getJob, { jobId })).toMatchObject({
    charged,
    refunded: charged,
    notRun: 1,
  });
});

describe('units', () => {
  test('are listed in submission order with any page size', async () => {
    const jobId = await ended(103);
    const all: unknown[] = [];
    let pageToken = '';
    do {
      const page = await call(jobs.listUnits, { jobId, pageSize: 7, pageToken });
      all.push(...page.units.map(({ index, key, status }) => [index, key, status]));
      pageToken = page.nextPageToken;
    } while (pageToken !== '');
    const { items } = variantSoldRequest(103, ...gone);
    expect(all).toEqual(
      items.map(({ itemId }, index) => [index, itemId, index < 103 ? 'SUCCESS' : 'FAILED']),
    );
    const failed = await call(jobs.listUnits, { jobId, status: 'FAILED' });
    expect(failed.units).toMatchObject([
      {
        index: 103,
        key: gone[0],
        region: 'sg',
        code: 'page_not_found',
        message: expect.stringMatching(/\S/),
      },
      { index: 104, key: gone[1] },
    ]);
    expect(JSON.parse(failed.units[0]!.input)).toEqual({ item_id: gone[0], shop_id: '77' });
    const one = await call(jobs.listUnits, { jobId, code: 'page_not_found', pageSize: 1 });
    expect([one.units.length, one.nextPageToken]).toEqual([1, '104.0']);
    const rest = await call(jobs.listUnits, {
      jobId,
      code: 'page_not_found',
      pageSize: 1,
      pageToken: '104.0',
    });
    expect([rest.units.map(({ index }) => index), rest.nextPageToken]).toEqual([[104], '']);
    expect((await call(jobs.listUnits, { jobId, code: 'page_blocked' })).units).toEqual([]);
    expect((await call(jobs.listUnits, { jobId, status: 'PENDING' })).units).toEqual([]);
    await expect(call(jobs.listUnits, { jobId, pageToken: 'x' })).rejects.toMatchObject({
      code: 'invalid',
    });
  });

  test('are pending while the job awaits approval, and failed once it is rejected', async () => {
    const jobId = await submitted(1);
    const statuses = async (request: object) =>
      (await call(jobs.listUnits, { jobId, ...request })).units.map(({ status, code }) => [
        status,
        code,
      ]);
    expect(await statuses({ status: 'PENDING' })).toEqual(Array(3).fill(['PENDING', '']));
    await reject(fixture.context, jobId, operatorId, 'No.');
    expect(await statuses({ status: 'FAILED' })).toEqual(Array(3).fill(['FAILED', 'rejected']));
  });
});

test('listFaults groups failures by fault, most frequent first, with at most five examples', async () => {
  const jobId = await submitted(60);
  await approve(fixture.context, jobId, operatorId);
  const { store } = fixture.context;
  const [first, second] = await store.batches.find({ jobId });
  const failed = (code: 'page_blocked' | 'page_empty') =>
    ({ status: 'FAILED', code, message: code }) as const;
  for (const [batch, upTo] of [
    [first!, 7],
    [second!, 3],
  ] as const) {
    await store.batches.claim(batch, 0, 0, fixture.clock.now());
    const outcomes = Array.from({ length: batch.total }, (_, at) =>
      at < upTo ? failed('page_blocked') : failed('page_empty'),
    );
    await store.batches.recordOutcomes(batch, 1, {
      outcomes: { ...outcomes },
      end: { file: null, at: fixture.clock.now() },
    });
  }
  const { faults } = await call(jobs.listFaults, { jobId });
  expect(
    faults.map(({ code, units, examples }) => [code, units, examples.map(({ index }) => index)]),
  ).toEqual([
    ['page_empty', 52, [7, 8, 9, 10, 11]],
    ['page_blocked', 10, [0, 1, 2, 3, 4]],
  ]);
});

test('listFiles returns links: the merged file first, then the files of batches', async () => {
  const jobId = await submitted(60);
  expect((await call(jobs.listFiles, { jobId })).files).toEqual([]);
  await approve(fixture.context, jobId, operatorId);
  await fixture.startWorker();
  await fixture.waitForState(jobId, 'completed');
  const { files } = await call(jobs.listFiles, { jobId });
  expect(files.map(({ scope, index, items }) => [scope, index, items])).toEqual([
    ['job', 0, 62],
    ['batch', 0, 50],
    ['batch', 1, expect.any(Number)],
  ]);
  expect(files[0]).toMatchObject({
    name: `full_${jobId}.json`,
    contentType: 'application/json',
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    downloadUrl: expect.stringContaining(`full_${jobId}.json`),
  });
});

describe('streamResults', () => {
  test('yields one line per result with the stored bytes of its record', async () => {
    const jobId = await ended(60);
    const { type, text, messages } = await textOf(jobs.streamResults, { jobId });
    expect(type).toBe('application/x-ndjson');
    expect(messages[0]!.data).toHaveLength(0);
    const lines = linesOf(text);
    expect(lines.map(({ index }) => index)).toEqual(
      Array.from({ length: 60 }, (_, index) => index),
    );
    expect(Object.keys(lines[0])).toEqual([
      'index',
      'batch_id',
      'key',
      'region',
      'input',
      'record',
    ]);
    const { store } = fixture.context;
    for await (const batch of store.batches.read(jobId)) {
      for await (const [, body] of readRecords(fixture.context, batch))
        expect(text).toContain(`,"record":${Buffer.from(body).toString()}}\n`);
    }
  });

  test('works while the job runs, also without results', async () => {
    const jobId = await submitted(3);
    expect((await textOf(jobs.streamResults, { jobId })).text).toBe('');
    await approve(fixture.context, jobId, operatorId);
    const { store } = fixture.context;
    const [batch] = await store.batches.find({ jobId });
    await store.batches.claim(batch!, 0, 0, fixture.clock.now());
    const body = Buffer.from('{"a": 1.0,  "b":"é"}');
    const outcome = { status: 'SUCCESS', attempt: 1, readAt: fixture.clock.now() } as const;
    const segment = await writeRecords(fixture.context, `${jobId}/segment`, new Map([[1, body]]));
    await store.batches.recordOutcomes(batch!, 1, { outcomes: { 1: outcome }, segment });
    const { text } = await textOf(jobs.streamResults, { jobId });
    expect(text).toMatch(/^\{"index":1,.*"record":\{"a": 1\.0, {2}"b":"é"\}\}\n$/);
  });

  test('reads further records only after the reader has taken the earlier ones', async () => {
    const jobId = await ended(160);
    const { blobs } = fixture.context;
    let read = 0;
    const context = {
      ...fixture.context,
      blobs: {
        ...blobs,
        read: (...parameters: Parameters<typeof blobs.read>) => {
          read += 1;
          return blobs.read(...parameters);
        },
      },
    };
    const stream = jobServiceHandlers(context).stream.get(jobs.streamResults)!;
    const messages = stream(create(jobs.streamResults.input, { jobId }), callOf(userId))[
      Symbol.asyncIterator
    ]();
    await messages.next();
    // An error of the first read is a response.
    expect(read).toBe(1);
    await messages.next();
    expect(read).toBe(1);
    await messages.return?.();
    expect(read).toBe(1);
  });

  test('an unavailable storage is an error before the first message', async () => {
    const jobId = await ended(1);
    const blobs = {
      ...fixture.context.blobs,
      read: () =>
        Promise.reject(new Fault('unavailable', 'no response', { component: 'file store' })),
    };
    const { stream } = jobServiceHandlers({ ...fixture.context, blobs });
    const request = create(jobs.streamResults.input, { jobId });
    const streamResults = stream.get(jobs.streamResults)!;
    const messages = streamResults(request, callOf(userId))[Symbol.asyncIterator]();
    await expect(messages.next()).rejects.toMatchObject({ code: 'unavailable' });
  });
});

describe('streamFailures', () => {
  test('yields the unit, the fault and the ledger entry of the refund', async () => {
    const jobId = await ended(60);
    const { type, text } = await textOf(jobs.streamFailures, { jobId });
    expect(type).toBe('application/x-ndjson');
    expect(linesOf(text)).toEqual(
      gone.map((key, at) => ({
        index: 60 + at,
        batch_id: expect.any(String),
        key,
        region: 'sg',
        input: { item_id: key, shop_id: '77' },
        code: 'page_not_found',
        message: expect.stringMatching(/\S/),
        credits: 10,
        refund_entry: `refund:${jobId}`,
      })),
    );
    const csv = await textOf(jobs.streamFailures, { jobId, format: 'csv' });
    expect(csv.type).toBe('text/csv; charset=utf-8');
    const [head, first] = csv.text.split('\r\n');
    expect(head).toBe('index,batch_id,key,region,input,code,message,credits,refund_entry');
    expect(first).toContain(
      `,${gone[0]},sg,"{""item_id"":""${gone[0]}"",""shop_id"":""77""}",page_not_found,`,
    );
    expect(first).toMatch(new RegExp(`,10,refund:${jobId}$`));
  });

  test('yields no refund for a job that was never charged', async () => {
    const jobId = await submitted(1);
    await reject(fixture.context, jobId, operatorId, 'Not "now".');
    const lines = linesOf((await textOf(jobs.streamFailures, { jobId })).text);
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatchObject({
      code: 'rejected',
      message: 'The job was rejected. Not "now".',
      credits: 0,
      refund_entry: null,
    });
  });
});

describe('operators', () => {
  test("list every job with its owner's name and credits", async () => {
    const jobId = await submitted(1);
    const job = await asOperator(jobs.getJob, { jobId });
    expect(job).toMatchObject({ jobId, userName: 'Test', userBalance: 10_000n });
    const { jobs: listed } = await asOperator(jobs.listJobs, { market: 'mkta' });
    expect(listed).toEqual([job]);
    expect((await asOperator(jobs.listUnits, { jobId })).units).toHaveLength(3);
    expect((await call(operators.listBatches, { jobId })).batches).toMatchObject([
      { seq: 0, state: 'waiting', total: 3, attempt: 0 },
    ]);
  });

  test('search jobs by id, task id, and the name or email address of the owner', async () => {
    const jobId = await submitted(1);
    const { taskId } = await fixture.submit(userId, 'SubmitGetPc', {
      region: 'sg',
      itemId: gone[0]!,
      shopId: '77',
    });
    const search = async (text: string, request: object = {}) =>
      (await asOperator(jobs.listJobs, { search: text, ...request })).jobs.map((job) => job.kind);
    expect(await search(jobId.toUpperCase())).toEqual(['variant_sold']);
    expect(await search(String(taskId))).toEqual(['get_pc']);
    expect(await search(jobId, { kind: 'get_pc' })).toEqual([]);
    expect((await search('tEs')).toSorted()).toEqual(['get_pc', 'variant_sold']);
    expect(await search('nobody is called that')).toEqual([]);
    expect(await search(newId())).toEqual([]);
  });

  test('read the owners and deciders of a page once, and counts of unfinished jobs only', async () => {
    await ended(1);
    await submitted(1);
    await submitted(1);
    const asked: unknown[] = [];
    const { store } = fixture.context;
    const counting = replaceMethods(store, {
      batches: {
        countJobs: (ids: readonly string[]) => {
          asked.push(['countJobs', ids.length]);
          return store.batches.countJobs(ids);
        },
      },
      users: {
        ...store.users,
        find: (where: Parameters<typeof store.users.find>[0]) => {
          asked.push(['users.find', where]);
          return store.users.find(where);
        },
      },
    });
    const known = jobServiceHandlers({ ...fixture.context, store: counting });
    const request = create(jobs.listJobs.input, {});
    await known.unary.get(jobs.listJobs)!(request, callOf(operatorId, 'operator'));
    expect(asked).toEqual(
      expect.arrayContaining([
        ['countJobs', 2],
        ['users.find', { id: { in: [userId, operatorId] } }],
      ]),
    );
    expect(asked).toHaveLength(2);
  });
});
