import { buffer, text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type JobFixture, noon, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import { chunksOf } from '../../blobs/conformance.ts';
import type { SubmitOptionValues } from '../../contract/submit-options.ts';
import type { Outcome } from '../../store/batches.ts';
import type { Job, StoredFile } from '../../store/documents.ts';
import { markFilesDeleted } from '../../store/retention.ts';
import { markUserDeleted } from '../../store/users.ts';
import { sweep } from '../../sweep/sweep.ts';
import { results } from '../queries/results.ts';
import { qualityOf } from '../queries/units.ts';
import { deleteFiles, deleteJob, eraseUser } from './delete.ts';

const hour = 3_600_000;
const shop = 'https://mkta.sg/shop/21';
const search = 'https://mkta.sg/search?keyword=lamp';
let fixture: JobFixture;
let userId: string;
beforeEach(async () => {
  fixture = await openJobFixture({ approval: false });
  userId = await fixture.createUser(10_000);
  await fixture.startWorker();
});
afterEach(async () => {
  expect(await fixture.problems()).toEqual([]);
  await fixture.close();
});

const ended = ['completed', 'partial_complete', 'failed'] as const;

/**
 * Runs a job of URLs to its end. Returns it, the file of its first URL, and the number of requests
 * meanwhile.
 */
async function run(
  urls: string[],
  { maxAge = '1h' }: SubmitOptionValues = {},
  owner = userId,
): Promise<{ job: Job; file: StoredFile; requests: number; outcome: Outcome }> {
  const before = fixture.requestedItems().length;
  const method = urls[0]!.includes('/shop/') ? 'SubmitMerchantItems' : 'SubmitSearchItems';
  const { jobId } = await fixture.submit(owner, method, { urls }, undefined, { maxAge });
  const job = await fixture.waitForState(jobId, ...ended);
  const [batch] = await Array.fromAsync(fixture.context.store.batches.read(jobId));
  const outcome = batch!.outcomes[0]!;
  expect(outcome.status).toBe('SUCCESS');
  const { file } = outcome as Extract<Outcome, { status: 'SUCCESS' }>;
  return { job, file: file!, outcome, requests: fixture.requestedItems().length - before };
}

const contents = async ({ path }: StoredFile) => text(await fixture.context.blobs.read(path));

/** Returns the quality and the number of entries of a job's files. */
const measured = async ({ job, file }: { job: Job; file: StoredFile }) => ({
  quality: await qualityOf(fixture.context, job),
  items: file.items,
});

describe.each([
  ['a shop', shop, 'https://mkta.sg/shop/22', 'RetrieveMerchantItems'],
  ['a search', search, 'https://mkta.sg/search?keyword=chair', 'RetrieveSearchItems'],
])('the file of %s', (_name, url, other, retrieve) => {
  test('is copied for a later job that accepts it, which costs less', async () => {
    const first = await run([url]);
    expect(first.requests).toBeGreaterThan(0);
    await fixture.clock.advance(hour - 1_000);
    const other = await fixture.createUser(100);
    const second = await run([url], {}, other);
    expect(second.requests).toBe(0);
    expect(second.job).toMatchObject({
      cost: 6,
      refunded: 3,
      counts: { units: { success: 1, reused: 1 } },
    });
    expect(await fixture.balance(other)).toBe(97);
    expect(second.outcome).toMatchObject({ collectedAt: noon });
    expect(second.file.path.startsWith(`${second.job.id}/`)).toBe(true);
    expect(await contents(second.file)).toBe(await contents(first.file));
    expect(await measured(second)).toEqual(await measured(first));
  });

  test('has the time of its reading in the retrieve response and in the results', async () => {
    const first = await run([url]);
    await fixture.clock.advance(60_000);
    const { job } = await run([url]);
    const seen = async ({ id }: Job) =>
      (await fixture.read(userId, retrieve, { jobId: id })).items[0];
    expect((await seen(job)).collectedAt).toBe(noon / 1000);
    expect((await seen(first.job)).collectedAt).toBeUndefined();
    const [line] = await Array.fromAsync(results(fixture.context, job));
    expect(JSON.parse(String(line))).toMatchObject({ collected_at: new Date(noon).toISOString() });
  });

  test('is read again for another input, for an older one, and without max_age', async () => {
    await run([url], { maxAge: '' });
    expect((await run([url])).requests).toBeGreaterThan(0);
    expect((await run([other])).requests).toBeGreaterThan(0);
    expect((await run([url.replace('mkta.sg', 'mkta.co.id')])).requests).toBeGreaterThan(0);
    await fixture.clock.advance(hour + 1_000);
    expect((await run([url])).requests).toBeGreaterThan(0);
    expect((await run([url], { maxAge: '' })).requests).toBeGreaterThan(0);
  });
});

describe('a copied file', () => {
  test('has the URL of its own job', async () => {
    await run([shop]);
    const { file, requests } = await run([`${shop}?sort=new`]);
    expect(requests).toBe(0);
    const { shops } = JSON.parse(await contents(file));
    expect(Object.keys(shops)).toEqual([`${shop}?sort=new`]);
    expect(shops[`${shop}?sort=new`].page_url).toBe(`${shop}?sort=new`);
  });

  test('is independent of the job it was copied from', async () => {
    const first = await run([shop]);
    const whole = await contents(first.file);
    const second = await run([shop]);
    await deleteJob(fixture.context, first.job);
    expect(await contents(second.file)).toBe(whole);
    await deleteFiles(fixture.context, second.job);
    expect((await run([shop])).requests).toBeGreaterThan(0);
  });

  test('leaves the file of the earlier job when it is deleted', async () => {
    const first = await run([shop]);
    const second = await run([shop]);
    await deleteJob(fixture.context, second.job);
    expect((await run([shop])).requests).toBe(0);
    expect(await contents(first.file)).not.toBe('');
  });
});

describe('the listing is read again', () => {
  const again = async () => (await run([shop])).requests > 0;

  test.each([
    ['its job was deleted', async ({ job }) => deleteJob(fixture.context, job)],
    ['the files of its job were deleted', async ({ job }) => deleteFiles(fixture.context, job)],
    [
      'the files of its job are being deleted',
      async ({ job }) => markFilesDeleted(fixture.context.store, job.id, noon),
    ],
    [
      'its owner was erased',
      async () => {
        const user = (await markUserDeleted(fixture.context.store, userId, noon))!;
        await eraseUser(fixture.context, user);
        userId = await fixture.createUser(100);
      },
    ],
    ['its file is missing', async ({ file }) => fixture.context.blobs.remove([file.path])],
    [
      'its file was truncated',
      async ({ file }) => {
        const bytes = (await buffer(await fixture.context.blobs.read(file.path))).subarray(0, -1);
        await fixture.context.blobs.write(file.path, file.contentType, chunksOf(bytes), () => 1);
      },
    ],
    [
      'the time of reuse has passed',
      async () => {
        await fixture.clock.advance(25 * hour);
        await sweep(fixture.context);
      },
    ],
  ] satisfies [string, (first: { job: Job; file: StoredFile }) => Promise<unknown>][])(
    'if %s',
    async (_name, change) => {
      const first = await run([shop]);
      await change(first);
      expect(await again()).toBe(true);
      expect(await again()).toBe(false);
    },
  );
});

test('jobs of a test account and of a live one do not share files', async () => {
  await run([shop]);
  const tester = await fixture.createUser(0, { testOf: userId });
  const first = await run([shop], {}, tester);
  expect([first.requests > 0, first.job.refunded]).toEqual([true, 0]);
  expect((await run([shop], {}, tester)).requests).toBe(0);
  await deleteJob(fixture.context, first.job);
  expect((await run([shop])).requests).toBe(0);
});
