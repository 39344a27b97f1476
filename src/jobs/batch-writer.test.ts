import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type JobsBench, openJobs, variantSoldRequest } from '../../test/support/jobs.ts';
import { mortal } from '../../test/support/mortal.ts';
import type { BatchReference, Job } from '../store/documents.ts';
import { sweep } from '../sweep/sweep.ts';
import { cancel } from './cancel.ts';
import { leaseMs } from './context.ts';
import { work } from './work.ts';

let bench: JobsBench;
let messages: BatchReference[];
beforeEach(async () => {
  bench = await openJobs({ approval: false });
  messages = [];
  const { queue } = bench.context;
  bench.context.queue = { ...queue, publish: async (message) => messages.push(message) > 0 };
});
afterEach(() => bench.close());

const never = new AbortController().signal;
const items = Array.from({ length: 20 }, (_, at) => `300000000${String(at).padStart(2, '0')}`);

async function submitted(count: number): Promise<string> {
  const userId = await bench.createUser(10_000);
  return (await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(count))).jobId;
}

const batchOf = async (jobId: string) => (await Array.fromAsync(bench.context.store.readBatches(jobId)))[0]!;
const filesOf = async (jobId: string) =>
  (await bench.context.blobs.listJob(jobId)).map((path) => path.slice(jobId.length + 1)).sort();
const mergedItems = async ({ file }: Job): Promise<string[]> =>
  JSON.parse(await text(await bench.context.blobs.read(file!.path))).map(({ itemId }: { itemId: string }) =>
    String(itemId),
  );

/** Writes that reach the result storage, by file name. */
function watchWrites(): string[] {
  const { blobs } = bench.context;
  const written: string[] = [];
  bench.context.blobs = {
    ...blobs,
    write: (path, ...rest) => {
      written.push(path.slice(path.indexOf('/') + 1));
      return blobs.write(path, ...rest);
    },
  };
  return written;
}

/** Lets the first `count` pages come, each two seconds after the one before, and holds the others. */
function slowly(count: number) {
  const held = Promise.withResolvers<void>();
  let left = count;
  let isHeld = false;
  let turn = Promise.resolve();
  bench.between((fetch) => async (request) => {
    if (left-- > 0) {
      turn = turn.then(() => bench.clock.pass(2_000));
      await turn;
      return fetch(request);
    }
    isHeld = true;
    await held.promise;
    return fetch(request);
  });
  return { release: held.resolve, isHeld: () => isHeld };
}

test('a batch that ends in time writes one part, and the job one file more', async () => {
  const written = watchWrites();
  const jobId = await submitted(60);
  for (let message = messages.shift(); message; message = messages.shift())
    await work(bench.context, message, () => {}, never);
  const job = await bench.reaches(jobId, 'completed');
  expect(written).toHaveLength(3);
  expect(written.at(-1)).toBe(`full_${jobId}.json`);
  expect(await filesOf(jobId)).toEqual([...written].sort());
  expect(await mergedItems(job)).toHaveLength(60);
  const { parts, file } = await batchOf(jobId);
  expect(parts.map(({ path }) => path)).toEqual([file!.path]);
});

test('a single task has its record in a part', async () => {
  const userId = await bench.createUser(100);
  const { taskId } = await bench.submit(userId, 'SubmitGetPc', {
    region: 'sg',
    itemId: '20101',
    shopId: '7',
  });
  const { id } = (await bench.context.store.getJobByNumber(taskId))!;
  await work(bench.context, messages.shift()!, () => {}, never);
  await bench.reaches(id, 'completed');
  const shown = await bench.read(userId, 'RetrieveGetPc', { taskId: String(taskId) });
  const [path] = await bench.context.blobs.listJob(id);
  expect(path).toMatch(/\/part_1_.*_1$/);
  expect(shown.result).toBe(await text(await bench.context.blobs.read(path!)));
});

describe('a batch under way', () => {
  test('has what is finished in parts of their own, which its last part replaces', async () => {
    const jobId = await submitted(items.length);
    const pages = slowly(10);
    const working = work(bench.context, messages.shift()!, () => {}, never);
    await bench.comesTrue('pages are held and records written', async () => {
      return pages.isHeld() && (await batchOf(jobId)).parts.length > 1;
    });
    const { parts, success } = await batchOf(jobId);
    expect(parts.flatMap(({ records }) => Object.keys(records))).toHaveLength(success);
    expect(parts.every(({ path, body }) => body === null && /_1_\d+$/.test(path))).toBe(true);
    pages.release();
    await working;
    const job = await bench.reaches(jobId, 'completed');
    expect((await batchOf(jobId)).parts).toHaveLength(1);
    expect(await filesOf(jobId)).toHaveLength(2);
    expect(await mergedItems(job)).toEqual(items);
  });

  test('whose worker dies costs no finished unit again, and its last part has all records', async () => {
    const jobId = await submitted(items.length);
    const pages = slowly(10);
    const victim = mortal(bench.context, Number.POSITIVE_INFINITY, 'before');
    void work(victim.context, messages.shift()!, () => {}, never).catch(() => {});
    await bench.comesTrue('records are written', async () => {
      return pages.isHeld() && (await batchOf(jobId)).parts.length > 1;
    });
    victim.kill();
    const { success } = await batchOf(jobId);
    bench.between((fetch) => fetch);
    await bench.clock.pass(leaseMs + 1);
    await sweep(bench.context);
    const asked = bench.asked().length;
    await work(bench.context, messages.shift()!, () => {}, never);
    expect(bench.asked().length - asked).toBe(items.length - success);
    const job = await bench.reaches(jobId, 'completed');
    expect(await mergedItems(job)).toEqual(items);
    expect(await filesOf(jobId)).toHaveLength(2);
    expect(await bench.problems()).toEqual([]);
  });

  test('that is cancelled keeps the finished records, and its job has no other files', async () => {
    const userId = await bench.createUser(10_000);
    const rows = items.map((item) => `sg,77,${item}`).join('\n');
    const file = Buffer.from(`region,shop_id,item_id\n${rows}\n`).toString('base64');
    const { taskId } = await bench.submit(userId, 'SubmitGetPcBulk', { file, resultFormat: 'jsonl' });
    const { id } = (await bench.context.store.getJobByNumber(taskId))!;
    const pages = slowly(10);
    const working = work(bench.context, messages.shift()!, () => {}, never);
    await bench.comesTrue('records are written', async () => {
      return pages.isHeld() && (await batchOf(id)).parts.length > 1;
    });
    const { success } = await batchOf(id);
    await cancel(bench.context, id, { operatorId: null, reason: '' });
    const job = await bench.reaches(id, 'partial_complete', 'terminated', 'completed');
    const lines = (await text(await bench.context.blobs.read(job.file!.path))).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line)).filter(({ status }) => status === 'SUCCESS')).toHaveLength(
      success,
    );
    // The late worker removes what it writes.
    pages.release();
    await working;
    const { parts } = await batchOf(id);
    expect((await bench.context.blobs.listJob(id)).sort()).toEqual(
      [job.file!.path, ...parts.map(({ path }) => path)].sort(),
    );
  });
});

test.each([
  [1, /^batch_.*_1\.json$/],
  [5, /^part_1_.*_1_1$/],
])('the part of a late worker is never read, and is removed (%i units)', async (count, name) => {
  const jobId = await submitted(count);
  const held = Promise.withResolvers<void>();
  bench.between((fetch) => async (request) => {
    await held.promise;
    return fetch(request);
  });
  // Its heart stops: the process stands still while the clock goes on.
  const standing = { ...bench.context, clock: { ...bench.clock, sleep: () => new Promise<void>(() => {}) } };
  const slow = work(standing, messages.shift()!, () => {}, never);
  await bench.comesTrue('pages are asked for', () => bench.asked().length === count);
  await bench.clock.pass(leaseMs + 1);
  await sweep(bench.context);
  bench.between((fetch) => fetch);
  await work(bench.context, messages.shift()!, () => {}, never);
  await bench.reaches(jobId, 'completed');
  const files = await filesOf(jobId);
  const written = watchWrites();
  standing.blobs = bench.context.blobs;
  held.resolve();
  await Promise.race([slow, bench.comesTrue('it has written', () => written.length > 0)]);
  await bench.comesTrue('its part is removed', async () => (await filesOf(jobId)).length === files.length);
  expect(written).toEqual([expect.stringMatching(name)]);
  expect(await filesOf(jobId)).toEqual(files);
});

test('a part that a crash left behind is removed at the end of the job', async () => {
  const jobId = await submitted(3);
  const victim = mortal(
    {
      ...bench.context,
      store: { ...bench.context.store, finishBatch: () => new Promise<boolean>(() => {}) },
    },
    Number.POSITIVE_INFINITY,
    'before',
  );
  void work(victim.context, messages.shift()!, () => {}, never).catch(() => {});
  await bench.comesTrue('its part is written', async () => (await filesOf(jobId)).length === 1);
  victim.kill();
  const [left] = await filesOf(jobId);
  await bench.clock.pass(leaseMs + 1);
  await sweep(bench.context);
  await work(bench.context, messages.shift()!, () => {}, never);
  await bench.reaches(jobId, 'completed');
  expect(await filesOf(jobId)).toHaveLength(2);
  expect(await filesOf(jobId)).not.toContain(left);
});
