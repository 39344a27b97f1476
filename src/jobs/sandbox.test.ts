import { describe, expect, test } from 'vitest';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../test/support/jobs/jobs.ts';
import { testAccountId } from '../access/principal.ts';
import { storeJob } from '../store/conformance/samples.ts';
import { markUserDeleted } from '../store/users.ts';
import { sweep } from '../sweep/sweep.ts';
import { sandboxQueue, testDecision, testDecisionMs, testResultsMs } from './sandbox.ts';
import { eraseUser } from './steps/delete.ts';

describe('testDecision()', () => {
  test.each([
    ['20000000990', 'reject'],
    ['20000000991', 'none'],
    ['20000000992', 'approve'],
    ['https://shop.example/item-990?page=2', 'reject'],
    ['B0GLN01991', 'none'],
    ['kopi', 'approve'],
    ['constructor', 'approve'],
  ])('maps %s to %s', (key, decision) => expect(testDecision({ key })).toBe(decision));
});

test('testDecisionMs() is 0 for a job without units', () => {
  expect(testDecisionMs({ groups: [] })).toBe(0);
});

/** Opens the fixture with a user, and the user's test account. */
async function open(): Promise<{ fixture: JobFixture; userId: string; testId: string }> {
  const fixture = await openJobFixture();
  const userId = await fixture.createUser(10_000);
  const testId = testAccountId(userId);
  const user = (await fixture.context.store.users.get(userId))!;
  await fixture.context.store.users.insert({ ...user, id: testId, balance: 0, testOf: userId });
  return { fixture, userId, testId };
}

test('a crash between the deadline and the decision leaves a job that the next sweep decides on', async () => {
  const { fixture, testId } = await open();
  try {
    const { jobId } = await fixture.submit(testId, 'SubmitVariantSold', variantSoldRequest(2));
    const job = (await fixture.context.store.jobs.get(jobId))!;
    expect(job).toMatchObject({
      state: 'awaiting_approval',
      mode: 'test',
      cost: 0,
      noticeDue: null,
    });
    for await (const { market } of fixture.context.store.batches.read(jobId))
      expect(market).toBe(sandboxQueue);
    await sweep(fixture.context);
    await sweep(fixture.context);
    await fixture.startWorker();
    await fixture.waitForState(jobId, 'completed');
    expect(await fixture.problems()).toEqual([]);
  } finally {
    await fixture.close();
  }
});

test('pages of test jobs are not reused by live jobs, nor the reverse', async () => {
  const { fixture, userId, testId } = await open();
  try {
    await fixture.startWorker();
    const file = Buffer.from('region,shop_id,item_id\nsg,7,20101\n').toString('base64');
    const crawl = async (owner: string) => {
      const before = fixture.requestedItems().length;
      const request = { file, rescrape: false, resultFormat: 'jsonl' };
      const { taskId } = await fixture.submit(owner, 'SubmitGetPcBulk', request);
      const { id } = (await fixture.context.store.jobs.find({ number: taskId }))[0]!;
      await fixture.waitForState(id, 'completed');
      return fixture.requestedItems().length - before;
    };
    expect(await crawl(userId)).toBe(1);
    expect(await crawl(testId)).toBe(1);
    expect(await crawl(testId)).toBe(0);
    expect(await crawl(userId)).toBe(0);
  } finally {
    await fixture.close();
  }
});

test('the erasure of a user erases the test account', async () => {
  const { fixture, userId, testId } = await open();
  try {
    const { store, clock } = fixture.context;
    await fixture.startWorker();
    const { jobId } = await fixture.submit(testId, 'SubmitVariantSold', variantSoldRequest(1));
    await sweep(fixture.context);
    await fixture.waitForState(jobId, 'completed');
    const user = (await markUserDeleted(store, userId, clock.now()))!;
    await eraseUser(fixture.context, user);
    const test = (await store.users.get(testId))!;
    expect(test.deletedAt).not.toBeNull();
    expect(test.name).not.toBe('Test');
    await fixture.clock.advance(61_000);
    await eraseUser(fixture.context, test);
    expect(await store.jobs.get(jobId)).toBeNull();
  } finally {
    await fixture.close();
  }
});

test('the open jobs of a test account are limited, in number and units; those of a live account are not', async () => {
  const { fixture, userId, testId } = await open();
  try {
    const { store } = fixture.context;
    const submit = (owner: string) =>
      fixture.submit(owner, 'SubmitVariantSold', variantSoldRequest(2));
    const { job } = await storeJob(store, 1, {
      userId: testId,
      mode: 'test',
      state: 'processing',
      totalUnits: 99_999,
    });
    await expect(submit(testId)).rejects.toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('99999 units'),
    });
    await store.jobs.move(job.id, ['processing'], 'completed', fixture.clock.now());
    await submit(testId);
    for (let count = 1; count < 100; count++)
      await storeJob(store, 1, { userId: testId, mode: 'test', state: 'processing' });
    await expect(submit(testId)).rejects.toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('100 jobs'),
    });
    await storeJob(store, 1, { userId, state: 'processing', totalUnits: 99_999 });
    await submit(userId);
  } finally {
    await fixture.close();
  }
});

test('a test account that stores a gigabyte submits nothing and reads no listing until files are deleted', async () => {
  const { fixture, userId, testId } = await open();
  try {
    const { context } = fixture;
    const listing = { urls: ['https://mkta.sg/shop/21'] };
    const { jobId } = await fixture.submit(testId, 'SubmitMerchantItems', listing);
    const file = {
      path: 'j/f',
      contentType: 'application/json',
      items: 1,
      bytes: 1024 ** 3,
      sha256: '',
    };
    const past = {
      mode: 'test',
      state: 'completed',
      finishedAt: fixture.clock.now(),
      file,
    } as const;
    const { job: full } = await storeJob(context.store, 1, { userId: testId, ...past });
    await expect(fixture.submit(testId, 'SubmitMerchantItems', listing)).rejects.toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('have 1073741824 bytes, the limit is 1073741824'),
    });
    await sweep(context);
    await fixture.startWorker();
    const job = await fixture.waitForState(jobId, 'failed', 'completed', 'partial_complete');
    const [batch] = await Array.fromAsync(context.store.batches.read(job.id));
    expect(batch!.outcomes[0]).toMatchObject({ status: 'FAILED', code: 'page_too_large' });
    expect(fixture.requestedItems()).toEqual([]);
    await storeJob(context.store, 1, { userId, ...past, mode: 'live' });
    await fixture.submit(userId, 'SubmitMerchantItems', listing);
    await fixture.clock.advance(testResultsMs + 1);
    await sweep(context);
    expect(await context.store.jobs.get(full.id)).toMatchObject({
      filesDeletedAt: fixture.clock.now(),
    });
    await fixture.submit(testId, 'SubmitMerchantItems', listing);
  } finally {
    await fixture.close();
  }
});
