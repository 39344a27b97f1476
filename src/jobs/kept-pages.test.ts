import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { findStores } from '../../test/support/engines/stores.ts';
import { createCrashingProcess, sweptFaultsOn } from '../../test/support/faults/crash.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../test/support/jobs/jobs.ts';
import { Fault } from '../contract/fault.ts';
import type { Batch, BatchReference } from '../store/batches.ts';
import { markUserDeleted } from '../store/users.ts';
import { sweep } from '../sweep/sweep.ts';
import { type JobSettings, leaseMs } from './context.ts';
import { capturePages, isPageFile, pagesOf, placeId } from './kept-pages.ts';
import { deleteFiles, eraseUser } from './steps/delete.ts';
import { work } from './steps/work.ts';

const dayMs = 86_400_000;
const never = new AbortController().signal;
let fixture: JobFixture;
let messages: BatchReference[];
afterEach(() => fixture.close());

describe.each(await findStores())('kept pages on $name', ({ name, open }) => {
  const openFixture = async (changes: Partial<JobSettings> = {}) => {
    fixture = await openJobFixture({ approval: false, ...changes }, open?.());
    messages = [];
    const { queue } = fixture.context;
    fixture.context.queue = { ...queue, publish: async (message) => messages.push(message) > 0 };
    return fixture.createUser(10_000);
  };
  const submitted = async (
    userId: string,
    count: number,
    keepPages?: string,
    repeated = 0,
  ): Promise<string> => {
    const options = keepPages === undefined ? {} : { keepPages };
    const { items, ...rest } = variantSoldRequest(count);
    const request = { ...rest, items: [...items, ...items.slice(0, repeated)] };
    return (await fixture.submit(userId, 'SubmitVariantSold', request, undefined, options)).jobId;
  };
  const workOff = async () => {
    for (let message = messages.shift(); message; message = messages.shift())
      await work(fixture.context, message, () => {}, never);
  };
  const batchesOf = (jobId: string) => Array.fromAsync(fixture.context.store.batches.read(jobId));
  const pageFilesOf = async (jobId: string) =>
    (await fixture.context.blobs.listJob(jobId)).filter(isPageFile).sort();
  const jobOf = async (jobId: string) => (await fixture.context.store.jobs.get(jobId))!;

  /**
   * Requires each unit to have one page, in files that exist, and the job to have no other page
   * files.
   */
  const expectComplete = async (jobId: string, where = '') => {
    const batches = await batchesOf(jobId);
    for (const { units, pages } of batches) {
      for (const [index, unit] of units.entries()) {
        const [page, ...more] = pages!.units[index] ?? [];
        expect(more, where).toEqual([]);
        const { path } = pages!.files[page!.file]!;
        const range = { start: page!.offset, end: page!.offset + page!.length - 1 };
        const record = gunzipSync(
          await buffer(await fixture.context.blobs.read(path, range)),
        ).toString();
        expect(record, where).toMatch(/^WARC\/1\.1\r\nWARC-Type: response\r\n/);
        expect(record.includes(String(unit.input.item_id)), where).toBe(true);
      }
    }
    const own = batches.flatMap(({ pages }) => pages!.files.filter(({ bytes }) => bytes > 0));
    expect(await pageFilesOf(jobId), where).toEqual(own.map(({ path }) => path).sort());
    const sizes = await Promise.all(own.map(({ path }) => fixture.context.blobs.size(path)));
    expect(sizes, where).toEqual(own.map(({ bytes }) => bytes));
  };

  test.skipIf(open === null)(
    'are stored for every unit, and deleted after the period of the option',
    async () => {
      const userId = await openFixture();
      const jobId = await submitted(userId, 60, '2d');
      await workOff();
      const job = await fixture.waitForState(jobId, 'completed');
      await expectComplete(jobId);
      const { pages } = job.counts!;
      expect(pages).toMatchObject({ kept: 60, missed: 0 });
      expect(pages!.bytes).toBe(await fixture.context.store.jobs.sumBytes(userId, 'pages'));
      expect(job.pagesUntil).toBe(job.finishedAt! + 2 * dayMs);
      await fixture.clock.advance(2 * dayMs - 1);
      await sweep(fixture.context);
      expect(await pageFilesOf(jobId)).toHaveLength(2);
      // A worker that stalled before its last call adds a place after the end.
      await fixture.context.store.pagePlaces.writeAll([
        { id: `${jobId}/late`, path: 'x', offset: 0, length: 1 },
      ]);
      await fixture.clock.advance(1);
      await sweep(fixture.context);
      expect(await fixture.context.store.pagePlaces.get(`${jobId}/late`)).toBeNull();
      expect(await pageFilesOf(jobId)).toEqual([]);
      expect((await fixture.context.blobs.listJob(jobId)).length).toBeGreaterThan(0);
      expect(await jobOf(jobId)).toMatchObject({ pagesUntil: null, filesDeletedAt: null });
      expect(await fixture.context.store.jobs.sumBytes(userId, 'pages')).toBe(0);
    },
  );

  test.skipIf(open === null)('are not kept without the option, or with an empty one', async () => {
    const userId = await openFixture();
    for (const option of [undefined, '']) {
      const jobId = await submitted(userId, 2, option);
      await workOff();
      const job = await fixture.waitForState(jobId, 'completed');
      expect([job.pagesUntil, job.counts!.pages, await pageFilesOf(jobId)]).toEqual([
        null,
        undefined,
        [],
      ]);
    }
  });

  test.skipIf(open === null)('are kept by default where the marketplace says so', async () => {
    const origin = {
      addresses: new Map(),
      positions: new Map(),
      allowPrivate: false,
      sign: false,
      keepPages: '3d',
    };
    const none = { fetch: undefined, concurrency: undefined, requestsPerSecond: undefined };
    const more = { hosts: undefined, robots: undefined, proxy: undefined };
    const userId = await openFixture({
      origins: new Map([['mkta', { ...origin, ...none, ...more }]]),
    });
    expect(await jobOf(await submitted(userId, 1))).toMatchObject({ options: { keepPages: '3d' } });
    expect(await jobOf(await submitted(userId, 1, '1d'))).toMatchObject({
      options: { keepPages: '1d' },
    });
    expect(await jobOf(await submitted(userId, 1, ''))).toMatchObject({ pagesUntil: null });
  });

  test.skipIf(open === null)(
    'are also those of failed units, and of the last attempt only',
    async () => {
      const userId = await openFixture();
      const { items } = variantSoldRequest(3);
      let attempts = 0;
      fixture.wrapFetch((fetch, itemId) => async (request) => {
        const page = await fetch(request);
        if (itemId !== items[1]!.itemId) return page;
        attempts += 1;
        return { ...page, body: Buffer.from(`<broken ${attempts} ${itemId}`) };
      });
      const jobId = await submitted(userId, 3, '1d');
      const working = workOff();
      await fixture.eventually('the unit has failed', async () => {
        await fixture.clock.advance(60_000);
        return (await jobOf(jobId)).finishedAt !== null;
      });
      await working;
      expect(attempts).toBeGreaterThan(1);
      expect((await jobOf(jobId)).counts).toMatchObject({
        units: { failed: 1 },
        pages: { kept: 3 },
      });
      await expectComplete(jobId);
      const [{ pages }] = (await batchesOf(jobId)) as [Batch];
      const { file, offset, length } = pages!.units[1]![0]!;
      const range = { start: offset, end: offset + length - 1 };
      const stored = await buffer(
        await fixture.context.blobs.read(pages!.files[file]!.path, range),
      );
      expect(gunzipSync(stored).toString()).toContain(`<broken ${attempts} `);
    },
  );

  test.skipIf(open === null)('are kept by a worker that takes batches from the queue', async () => {
    fixture = await openJobFixture({ approval: false }, open?.());
    const userId = await fixture.createUser(1_000);
    await fixture.startWorker();
    const jobId = await submitted(userId, 3, '1d');
    expect((await fixture.waitForState(jobId, 'completed')).counts!.pages).toMatchObject({
      kept: 3,
    });
    await expectComplete(jobId);
  });

  test.skipIf(open === null)('of equal units are kept once', async () => {
    const userId = await openFixture();
    const jobId = await submitted(userId, 2, '1d', 2);
    await workOff();
    expect((await fixture.waitForState(jobId, 'completed')).counts!.pages).toMatchObject({
      kept: 2,
    });
    await expectComplete(jobId);
  });

  test.skipIf(open === null)('of equal units in different batches are kept once', async () => {
    const userId = await openFixture();
    const jobId = await submitted(userId, 50, '1d', 10);
    await work(fixture.context, messages.shift()!, () => {}, never);
    const { store } = fixture.context;
    const [{ pages: kept }] = (await batchesOf(jobId)) as [Batch];
    const ids = Object.values(kept!.units).flatMap((each) =>
      each.map((page) => placeId(jobId, page)),
    );
    expect(await store.pagePlaces.find({ id: { in: ids } })).toHaveLength(50);
    await fixture.clock.advance(60_000);
    await workOff();
    expect(await store.pagePlaces.find({ id: { in: ids } })).toEqual([]);
    const { pages } = (await fixture.waitForState(jobId, 'completed')).counts!;
    expect(pages).toMatchObject({ kept: 50, missed: 0 });
    await expectComplete(jobId);
    const [first, second] = (await batchesOf(jobId)) as [Batch, Batch];
    expect(second.pages).toMatchObject({ bytes: 0, kept: 0, files: [{ bytes: 0 }] });
    const [page, same] = [first.pages!.units[0]![0]!, second.pages!.units[0]![0]!];
    expect(same).toEqual({ ...page, at: page.at + 60_000 });
    expect(await fixture.context.store.jobs.sumBytes(userId, 'pages')).toBe(pages!.bytes);
    const stream = await buffer(pagesOf(fixture.context, await jobOf(jobId)));
    expect(stream).toHaveLength(pages!.bytes);
  });

  test.skipIf(open === null)(
    'of batches that read them at the same moment may be kept by each',
    async () => {
      const userId = await openFixture();
      const jobId = await submitted(userId, 50, '1d', 10);
      await Promise.all(
        messages.splice(0).map((message) => work(fixture.context, message, () => {}, never)),
      );
      const { kept, missed } = (await fixture.waitForState(jobId, 'completed')).counts!.pages!;
      expect([kept >= 50, kept <= 60, missed]).toEqual([true, true, 0]);
      await expectComplete(jobId);
    },
  );

  test.skipIf(open === null)('are counted as missed above the quota of their user', async () => {
    const userId = await openFixture({ keptPageBytes: 12_000 });
    const first = await submitted(userId, 10, '1d');
    await workOff();
    const { pages } = (await fixture.waitForState(first, 'completed')).counts!;
    expect(pages!.kept).toBeGreaterThan(0);
    expect(pages!.kept + pages!.missed).toBe(10);
    expect(pages!.bytes).toBeLessThanOrEqual(12_000);
    const second = await submitted(userId, 10, '1d');
    await workOff();
    const later = (await fixture.waitForState(second, 'completed')).counts!.pages;
    expect(later!.bytes + pages!.bytes).toBeLessThanOrEqual(12_000);
    await deleteFiles(fixture.context, await jobOf(first));
    expect(await pageFilesOf(first)).toEqual([]);
    expect(await fixture.context.store.jobs.sumBytes(userId, 'pages')).toBe(later!.bytes);
  });

  test.skipIf(open === null)('are deleted with their user', async () => {
    const userId = await openFixture();
    const jobId = await submitted(userId, 2, '30d');
    await workOff();
    await fixture.waitForState(jobId, 'completed');
    const user = await markUserDeleted(fixture.context.store, userId, fixture.clock.now());
    await eraseUser(fixture.context, user!);
    expect(await fixture.context.blobs.listJob(jobId)).toEqual([]);
  });

  test.skipIf(open === null).each(sweptFaultsOn(name))(
    'are complete whenever their worker crashes, or a call of it fails: %s',
    async (when) => {
      const userId = await openFixture();
      let [last, total] = [1, 0];
      for (let dead = true; dead; last += 1) {
        // The second batch has a page of the first.
        const jobId = await submitted(userId, 50, '1d', 1);
        const victim = createCrashingProcess(fixture.context, last, when);
        const working = work(victim.context, messages.shift()!, () => {}, never).catch(() => {});
        await fixture.outlast(Promise.race([working, victim.crashed]), victim.isCrashed);
        dead = victim.isCrashed();
        await fixture.clock.advance(leaseMs + 61_000);
        await sweep(fixture.context);
        await workOff();
        await sweep(fixture.context);
        const where = `call ${last}, ${when} ${victim.crashedAt()}`;
        const job = await fixture.waitForState(jobId, 'completed');
        const { kept, missed } = job.counts!.pages!;
        // The place of a page that was stored can be lost.
        expect([kept === 50 || kept === 51, missed], where).toEqual([true, 0]);
        await expectComplete(jobId, where);
        total += job.counts!.pages!.bytes;
        expect(await fixture.context.store.jobs.sumBytes(userId, 'pages'), where).toBe(total);
      }
      expect(last).toBeGreaterThan(6);
      expect(await fixture.problems()).toEqual([]);
    },
  );
});

test('a unit whose pages exceed its limit keeps those before', async () => {
  fixture = await openJobFixture({ approval: false });
  const { randomBytes } = await import('node:crypto');
  const response = { status: 200, headers: {}, url: 'https://shop.example/a', at: 0 };
  const { fetch, captured } = capturePages(async () => ({
    ...response,
    body: randomBytes(6 * 1024 ** 2),
  }));
  for (const path of ['/a', '/b', '/c']) await fetch({ path });
  expect(captured.pages).toHaveLength(2);
  expect(captured.missed).toBe(1);
  const odd = capturePages(async () => ({ ...response, url: 'no URL', body: Buffer.from('x') }));
  expect(await odd.fetch({ path: '/' })).toMatchObject({ url: 'no URL' });
  expect(odd.captured).toEqual({ pages: [], bytes: 0, missed: 1 });
  await expect(
    capturePages(async () => {
      throw new Fault('network', 'Reset.');
    }).fetch({ path: '/' }),
  ).rejects.toMatchObject({ code: 'network' });
});
