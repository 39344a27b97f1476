import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createCrashingProcess } from '../../../test/support/faults/crash.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { flushTasks } from '../../../test/support/time/clock.ts';
import { createPageMemory } from '../../fetch/page-memory.ts';
import { type BatchReference, batchKey } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import { replaceMethods } from '../../store/wrap.ts';
import { sweep } from '../../sweep/sweep.ts';
import { leaseMs } from '../context.ts';
import { createBatchWriter } from './batch-writer.ts';
import { cancel } from './decide.ts';
import { finishEnding } from './finalize-job.ts';
import { restorableMs } from './lost-records.ts';
import type { UnitResult } from './unit-result.ts';
import { work } from './work.ts';

let fixture: JobFixture;
let messages: BatchReference[];
beforeEach(async () => {
  fixture = await openJobFixture({ approval: false });
  messages = [];
  const { queue } = fixture.context;
  fixture.context.queue = { ...queue, publish: async (message) => messages.push(message) > 0 };
});
afterEach(() => fixture.close());

const never = new AbortController().signal;
const items = Array.from({ length: 20 }, (_, at) => `300000000${String(at).padStart(2, '0')}`);

async function submitted(count: number): Promise<string> {
  const userId = await fixture.createUser(10_000);
  return (await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(count))).jobId;
}

const batchOf = async (jobId: string) =>
  (await Array.fromAsync(fixture.context.store.batches.read(jobId)))[0]!;
const filesOf = async (jobId: string) =>
  (await fixture.context.blobs.listJob(jobId)).map((path) => path.slice(jobId.length + 1)).sort();
const mergedItems = async ({ file }: Job): Promise<string[]> =>
  JSON.parse(await text(await fixture.context.blobs.read(file!.path))).map(
    ({ itemId }: { itemId: string }) => String(itemId),
  );

/** Completed blob writes, by file name. */
function watchWrites(): string[] {
  const { blobs } = fixture.context;
  const written: string[] = [];
  fixture.context.blobs = {
    ...blobs,
    write: async (path, ...rest) => {
      const file = await blobs.write(path, ...rest);
      written.push(path.slice(path.indexOf('/') + 1));
      return file;
    },
  };
  return written;
}

/** Serves the first `count` pages two seconds apart and blocks the others. */
function slowly(count: number) {
  const held = Promise.withResolvers<void>();
  let left = count;
  let isHeld = false;
  let turn = Promise.resolve();
  fixture.wrapFetch((fetch) => async (request) => {
    if (left-- > 0) {
      turn = turn.then(() => fixture.clock.advance(2_000));
      await turn;
      return fetch(request);
    }
    isHeld = true;
    await held.promise;
    return fetch(request);
  });
  return { release: held.resolve, isHeld: () => isHeld };
}

test('a batch that ends in time writes one segment, and the job one file, which replaces them', async () => {
  const written = watchWrites();
  const jobId = await submitted(60);
  for (let message = messages.shift(); message; message = messages.shift())
    await work(fixture.context, message, () => {}, never);
  const job = await fixture.waitForState(jobId, 'completed');
  expect(written).toHaveLength(3);
  expect(written.at(-1)).toBe(`full_${jobId}.json`);
  expect(await filesOf(jobId)).toEqual([`full_${jobId}.json`]);
  expect(await mergedItems(job)).toHaveLength(60);
  const { segments } = await batchOf(jobId);
  expect(segments.map(({ path }) => path)).toEqual([job.file!.path]);
});

test('the record of a single task is in a segment', async () => {
  const userId = await fixture.createUser(100);
  const { taskId } = await fixture.submit(userId, 'SubmitGetPc', {
    region: 'sg',
    itemId: '20101',
    shopId: '7',
  });
  const { id } = (await fixture.context.store.jobs.find({ number: taskId }))[0]!;
  await work(fixture.context, messages.shift()!, () => {}, never);
  await fixture.waitForState(id, 'completed');
  const shown = await fixture.read(userId, 'RetrieveGetPc', { taskId: String(taskId) });
  const [path] = await fixture.context.blobs.listJob(id);
  expect(path).toMatch(/\/segment_1_.*_1$/);
  expect(shown.result).toBe(await text(await fixture.context.blobs.read(path!)));
});

describe('a batch in progress', () => {
  test('writes finished units to separate segments, which its final segment replaces', async () => {
    const jobId = await submitted(items.length);
    const pages = slowly(10);
    const working = work(fixture.context, messages.shift()!, () => {}, never);
    await fixture.eventually('pages are held and records written', async () => {
      return pages.isHeld() && (await batchOf(jobId)).segments.length > 1;
    });
    const { segments, success } = await batchOf(jobId);
    expect(segments.flatMap(({ records }) => Object.keys(records))).toHaveLength(success);
    expect(segments.every(({ path, body }) => body === null && /_1_\d+$/.test(path))).toBe(true);
    pages.release();
    await working;
    const job = await fixture.waitForState(jobId, 'completed');
    expect((await batchOf(jobId)).segments).toHaveLength(1);
    expect(await filesOf(jobId)).toHaveLength(1);
    expect(await mergedItems(job)).toEqual(items);
  });

  test('keeps finished units if its worker dies, and its final segment has all records', async () => {
    const jobId = await submitted(items.length);
    const pages = slowly(10);
    const victim = createCrashingProcess(fixture.context, Number.POSITIVE_INFINITY, 'before');
    void work(victim.context, messages.shift()!, () => {}, never).catch(() => {});
    await fixture.eventually('records are written', async () => {
      return pages.isHeld() && (await batchOf(jobId)).segments.length > 1;
    });
    victim.kill();
    const { success } = await batchOf(jobId);
    fixture.wrapFetch((fetch) => fetch);
    await fixture.clock.advance(leaseMs + 1);
    await sweep(fixture.context);
    const asked = fixture.requestedItems().length;
    await work(fixture.context, messages.shift()!, () => {}, never);
    expect(fixture.requestedItems().length - asked).toBe(items.length - success);
    const job = await fixture.waitForState(jobId, 'completed');
    expect(await mergedItems(job)).toEqual(items);
    expect(await filesOf(jobId)).toHaveLength(1);
    expect(await fixture.problems()).toEqual([]);
  });

  test('ends without the records of a lost segment, which its job refunds', async () => {
    const { context, clock } = fixture;
    const jobId = await submitted(items.length);
    const pages = slowly(10);
    const victim = createCrashingProcess(context, Number.POSITIVE_INFINITY, 'before');
    void work(victim.context, messages.shift()!, () => {}, never).catch(() => {});
    await fixture.eventually('records are written', async () => {
      return pages.isHeld() && (await batchOf(jobId)).segments.length > 1;
    });
    victim.kill();
    const { segments } = await batchOf(jobId);
    const lost = Object.keys(segments[0]!.records).length;
    await context.blobs.remove([segments[0]!.path]);
    fixture.wrapFetch((fetch) => fetch);
    await clock.advance(leaseMs + 1);
    await sweep(context);
    const working = work(context, messages.shift()!, () => {}, never);
    await expect(working).rejects.toMatchObject({ code: 'storage_damaged' });
    await clock.advance(restorableMs);
    await finishEnding(context, (await context.store.jobs.get(jobId))!);
    const job = await fixture.waitForState(jobId, 'completed');
    expect(job).toMatchObject({ refunded: lost * job.unitPrice });
    expect(job.counts!.units).toMatchObject({ success: items.length - lost, failed: lost });
    expect(await mergedItems(job)).toEqual(items);
    expect(await fixture.problems()).toEqual([]);
  });

  test('keeps its finished records if it is cancelled, and its job has no other files', async () => {
    const userId = await fixture.createUser(10_000);
    const rows = items.map((item) => `sg,77,${item}`).join('\n');
    const file = Buffer.from(`region,shop_id,item_id\n${rows}\n`).toString('base64');
    const { taskId } = await fixture.submit(userId, 'SubmitGetPcBulk', {
      file,
      resultFormat: 'jsonl',
    });
    const { id } = (await fixture.context.store.jobs.find({ number: taskId }))[0]!;
    const pages = slowly(10);
    const working = work(fixture.context, messages.shift()!, () => {}, never);
    await fixture.eventually('records are written', async () => {
      return pages.isHeld() && (await batchOf(id)).segments.length > 1;
    });
    const { success } = await batchOf(id);
    await cancel(fixture.context, id, { operatorId: null, reason: '' });
    const job = await fixture.waitForState(id, 'partial_complete', 'terminated', 'completed');
    const lines = (await text(await fixture.context.blobs.read(job.file!.path))).trim().split('\n');
    expect(
      lines.map((line) => JSON.parse(line)).filter(({ status }) => status === 'SUCCESS'),
    ).toHaveLength(success);
    // The superseded worker deletes what it writes.
    pages.release();
    await working;
    const { segments } = await batchOf(id);
    // Other batches have their rows in the merged file.
    expect(segments.every(({ path }) => path !== job.file!.path)).toBe(true);
    expect((await fixture.context.blobs.listJob(id)).sort()).toEqual(
      [job.file!.path, ...segments.map(({ path }) => path)].sort(),
    );
  });
});

test.each([
  [1, /^batch_.*_1\.json$/],
  [5, /^segment_1_.*_1_1$/],
])(
  'the segment of a superseded worker is never read, and is deleted (%i units)',
  async (count, name) => {
    const jobId = await submitted(count);
    const held = Promise.withResolvers<void>();
    fixture.wrapFetch((fetch) => async (request) => {
      await held.promise;
      return fetch(request);
    });
    // Its renewals stop: the process is suspended while the clock advances.
    const standing = {
      ...fixture.context,
      clock: { ...fixture.clock, sleep: () => new Promise<void>(() => {}) },
    };
    void work(standing, messages.shift()!, () => {}, never);
    await fixture.eventually(
      'pages are asked for',
      () => fixture.requestedItems().length === count,
    );
    await fixture.clock.advance(leaseMs + 1);
    await sweep(fixture.context);
    fixture.wrapFetch((fetch) => fetch);
    await work(fixture.context, messages.shift()!, () => {}, never);
    await fixture.waitForState(jobId, 'completed');
    const files = await filesOf(jobId);
    const written = watchWrites();
    standing.blobs = fixture.context.blobs;
    held.resolve();
    await fixture.eventually('it writes', () => written.length > 0);
    // Its segment is written and removed.
    await flushTasks();
    expect(written).toEqual([expect.stringMatching(name)]);
    expect(await filesOf(jobId)).toEqual(files);
  },
);

test('a segment orphaned by a crash is deleted at the end of the job', async () => {
  const jobId = await submitted(3);
  const victim = createCrashingProcess(
    {
      ...fixture.context,
      store: replaceMethods(fixture.context.store, {
        batches: { recordOutcomes: () => new Promise<boolean>(() => {}) },
      }),
    },
    Number.POSITIVE_INFINITY,
    'before',
  );
  void work(victim.context, messages.shift()!, () => {}, never).catch(() => {});
  await fixture.eventually(
    'its segment is written',
    async () => (await filesOf(jobId)).length === 1,
  );
  victim.kill();
  const [left] = await filesOf(jobId);
  await fixture.clock.advance(leaseMs + 1);
  await sweep(fixture.context);
  await work(fixture.context, messages.shift()!, () => {}, never);
  await fixture.waitForState(jobId, 'completed');
  expect(await filesOf(jobId)).toHaveLength(1);
  expect(await filesOf(jobId)).not.toContain(left);
});

describe('while records take much of the memory', () => {
  const mib = 1024 ** 2;
  const page = (index: number): UnitResult => ({
    outcome: { status: 'SUCCESS', attempt: 1, readAt: 0 },
    payload: Buffer.from(JSON.stringify({ itemId: `${index}`, text: 'x'.repeat(mib) })),
  });
  const claimed = async (count: number) => {
    const jobId = await submitted(count);
    const { store } = fixture.context;
    const batch = (await store.batches.claim(batchKey(messages.shift()!), 0, 0, leaseMs))!;
    return { job: (await store.jobs.get(jobId))!, batch };
  };

  test('they are written early and released, and the final segment has all of them', async () => {
    const { job, batch } = await claimed(5);
    const memory = createPageMemory({ maxBytes: 4 * mib, clock: fixture.clock });
    fixture.context.pages.records = memory.records;
    const writer = createBatchWriter(fixture.context, job, batch, never);
    for (const index of [0, 1]) {
      expect(writer.isFull).toBe(false);
      writer.add(index, page(index));
    }
    expect([writer.isFull, memory.records.isFull]).toEqual([true, true]);
    await writer.flush();
    expect([writer.isFull, memory.records.isFull]).toEqual([false, false]);
    for (const index of [2, 3, 4]) writer.add(index, page(index));
    expect(memory.records.isFull).toBe(true);
    expect(await writer.finish()).toBe(true);
    writer.release();
    expect(memory.records.isFull).toBe(false);
    const [done] = await Array.fromAsync(fixture.context.store.batches.read(job.id));
    expect(done).toMatchObject({
      state: 'done',
      success: 5,
      segments: [{ quality: { records: 5 } }],
    });
    const items = JSON.parse(await text(await fixture.context.blobs.read(done!.file!.path)));
    expect(items).toHaveLength(5);
  });

  test('one write runs at a time, which limits reads while the storage is slow', async () => {
    const { job, batch } = await claimed(2);
    const { blobs } = fixture.context;
    const storage = Promise.withResolvers<void>();
    let writes = 0;
    const write: typeof blobs.write = async (...parameters) => {
      writes += 1;
      await storage.promise;
      return blobs.write(...parameters);
    };
    const writer = createBatchWriter(
      { ...fixture.context, blobs: { ...blobs, write } },
      job,
      batch,
      never,
    );
    const flushed: Promise<boolean>[] = [];
    for (const index of [0, 1]) {
      writer.add(index, page(index));
      flushed.push(writer.flush());
      await flushTasks();
    }
    expect(writes).toBe(1);
    storage.resolve();
    expect(await Promise.all(flushed)).toEqual([true, true]);
    expect((await batchOf(job.id)).segments.map(({ records }) => Object.keys(records))).toEqual([
      ['0'],
      ['1'],
    ]);
  });
});
