import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readBatchFile } from '../../../test/support/jobs/batch-files.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { newId } from '../../base/id.ts';
import { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { type BatchReference, batchKey } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import { replaceMethods } from '../../store/wrap.ts';
import { sweep } from '../../sweep/sweep.ts';
import { leaseMs } from '../context.ts';
import { approve } from './decide.ts';
import { maxRecordBytes } from './read-unit.ts';
import { work } from './work.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture({ jobWindow: 2 });
});
afterEach(() => fixture.close());

const never = new AbortController().signal;

/** An approved job whose messages are not consumed, and the messages. */
async function approved(items: number, ...more: string[]) {
  const userId = await fixture.createUser(10_000);
  const { jobId } = await fixture.submit(
    userId,
    'SubmitVariantSold',
    variantSoldRequest(items, ...more),
  );
  const messages: BatchReference[] = [];
  const { queue } = fixture.context;
  fixture.context.queue = { ...queue, publish: async (message) => messages.push(message) > 0 };
  await approve(fixture.context, jobId as string, newId());
  return { userId, jobId: jobId as string, messages };
}

const collectBatches = (jobId: string) =>
  Array.fromAsync(fixture.context.store.batches.read(jobId));
const batchesOf = (jobId: string) => fixture.context.store.batches.find({ jobId });
const jobOf = async (jobId: string): Promise<Job> => (await fixture.context.store.jobs.get(jobId))!;

/** Pages that arrive when the test releases them. */
function heldPages() {
  const held = Promise.withResolvers<void>();
  let waiting = 0;
  fixture.wrapFetch((fetch) => async (request) => {
    waiting += 1;
    await held.promise;
    return fetch(request);
  });
  return { release: held.resolve, waiting: () => waiting };
}

/** Fails the first pages of an item with the given faults, then succeeds. */
function failing(itemId: string, ...faults: Fault[]) {
  fixture.wrapFetch((fetch, asked) => async (request) => {
    const fault = asked === itemId ? faults.shift() : undefined;
    if (fault) throw fault;
    return fetch(request);
  });
}

describe('a unit', () => {
  const item = '30000000000';
  const asked = () => fixture.requestedItems().filter((id) => id === item).length;
  /** Processes the job while time advances as long as anything waits. */
  const workOff = async ({ messages, jobId }: { messages: BatchReference[]; jobId: string }) => {
    let done = false;
    const working = work(fixture.context, messages.shift()!, () => {}, never).finally(() => {
      done = true;
    });
    while (!done) await fixture.clock.advance(250);
    await working;
    return jobOf(jobId);
  };

  test.each([
    ['the network failed', new Fault('network', 'reset')],
    ['that came too late', new Fault('page_timeout', 'late')],
  ])('is asked for again when %s', async (_what, fault) => {
    const job = await approved(1);
    failing(item, fault, fault, fault);
    expect(await workOff(job)).toMatchObject({ state: 'completed', refunded: 0 });
    expect(asked()).toBe(4);
  });

  test('fails with the last fault after the maximum attempts, and is refunded', async () => {
    const job = await approved(2);
    const faults = Array.from({ length: 9 }, (_, at) => new Fault('network', `reset ${at + 1}`));
    failing(item, ...faults);
    expect(await workOff(job)).toMatchObject({ state: 'completed', refunded: 10 });
    expect(asked()).toBe(4);
    const shown = await fixture.read(job.userId, 'DownloadVariantSoldItem', {
      jobId: job.jobId,
      itemId: item,
    });
    expect(shown).toMatchObject({ status: 'FAILED', errorLog: 'reset 4' });
    expect(await fixture.problems()).toEqual([]);
  });

  test('is not requested again if it does not exist', async () => {
    const job = await approved(1, '30000000801');
    expect(await workOff(job)).toMatchObject({ state: 'completed', refunded: 10 });
    expect(fixture.requestedItems().filter((id) => id === '30000000801')).toHaveLength(1);
  });

  test.each(['unavailable', 'internal'] as const)(
    'waits while an engine fails with %s',
    async (code) => {
      const job = await approved(2);
      failing(
        item,
        new Fault(code, 'MongoDB at 127.0.0.1:27017: InternalError', { component: 'store' }),
      );
      await workOff(job);
      const [batch] = await collectBatches(job.jobId);
      expect(Object.values(batch!.outcomes)).toMatchObject([{ status: 'SUCCESS' }]);
      expect(batch).toMatchObject({
        state: 'queued',
        stalledClaims: 0,
        wait: { reason: 'storage unavailable' },
      });
      await fixture.clock.advance(10_000);
      expect(await workOff(job)).toMatchObject({ state: 'completed', refunded: 0 });
    },
  );

  test('fails without details of a defect of the program', async () => {
    const job = await approved(1);
    failing(item, new Fault('internal', 'cannot read /srv/gleaner/x'));
    await workOff(job);
    const [batch] = await collectBatches(job.jobId);
    expect(batch!.outcomes[0]).toEqual({
      status: 'FAILED',
      code: 'internal',
      message: 'The page could not be read because of an internal error.',
    });
  });

  test('is reported if it was refused, and requested later', async () => {
    const job = await approved(1);
    failing(item, new Fault('page_throttled', 'slow down', { retryAfterMs: 3_000 }));
    expect(await workOff(job)).toMatchObject({ state: 'completed' });
    expect(fixture.reportedFaults).toEqual(['page_throttled']);
  });

  test('fails with page_too_large after one request if its record exceeds the limit', async () => {
    fixture.wrapFetch((fetch, itemId) => async (request) => {
      const page = await fetch(request);
      if (itemId !== item) return page;
      const body = Buffer.from(page.body)
        .toString()
        .replace(/"name":"/, `"name":"${'x'.repeat(maxRecordBytes)}`);
      return { ...page, body: Buffer.from(body) };
    });
    const csv = `region,shop_id,item_id\nsg,77,${item}\nsg,77,30000000001`;
    const userId = await fixture.createUser(100);
    await fixture.submit(userId, 'SubmitGetPcBulk', { file: Buffer.from(csv).toString('base64') });
    const { items } = await fixture.context.store.jobs.list({ userId }, { limit: 1 });
    await fixture.startWorker();
    const job = await fixture.waitForState(items[0]!.id, 'partial_complete', 'failed');
    expect(job).toMatchObject({ state: 'partial_complete', refunded: job.unitPrice });
    const [batch] = await collectBatches(job.id);
    expect(batch!.outcomes[0]).toMatchObject({ status: 'FAILED', code: 'page_too_large' });
    expect(asked()).toBe(1);
  });

  test('keeps at most 1,000 characters of a message', async () => {
    failing(item, new Fault('page_not_found', 'x'.repeat(100_000)));
    const job = await approved(1);
    await workOff(job);
    const [batch] = await collectBatches(job.jobId);
    expect(batch!.outcomes[0]).toMatchObject({ message: 'x'.repeat(1_000) });
  });

  test('fails alone if its reader throws an unexpected error', async () => {
    const job = await approved(2);
    fixture.wrapFetch((fetch, id) =>
      id === item ? async () => ({ body: null }) as unknown as PageResponse : fetch,
    );
    expect(await workOff(job)).toMatchObject({ state: 'completed', refunded: 10 });
  });
});

describe('a message', () => {
  test('changes nothing if it is a duplicate, late, or about a done batch', async () => {
    const { jobId, messages } = await approved(60);
    const [first, second] = messages as [BatchReference, BatchReference];
    await Promise.all([1, 2, 3].map(() => work(fixture.context, first, () => {}, never)));
    await work(fixture.context, second, () => {}, never);
    const asked = fixture.requestedItems().length;
    expect(asked).toBe(60);
    const job = await jobOf(jobId);
    expect(job.state).toBe('completed');
    for (const message of [
      first,
      second,
      { ...first, attempt: 1 },
      { ...first, batchId: newId() },
    ]) {
      await work(fixture.context, message, () => {}, never);
    }
    expect(fixture.requestedItems()).toHaveLength(asked);
    expect(await jobOf(jobId)).toEqual(job);
    expect(await fixture.problems()).toEqual([]);
  });
});

describe('a worker', () => {
  test('writes nothing after it lost its claim, and the batch is counted once', async () => {
    const { jobId, messages } = await approved(5);
    const pages = heldPages();
    // Its renewals stop: the process is suspended while the clock advances.
    const standing = {
      ...fixture.context,
      clock: { ...fixture.clock, sleep: () => new Promise<void>(() => {}) },
    };
    const slow = work(standing, messages[0]!, () => {}, never);
    await fixture.eventually('pages are asked for', () => pages.waiting() === 5);
    await fixture.clock.advance(leaseMs + 1);
    await sweep(fixture.context);
    fixture.wrapFetch((fetch) => fetch);
    await work(fixture.context, messages.at(-1)!, () => {}, never);
    const ended = await jobOf(jobId);
    expect(ended).toMatchObject({ state: 'completed', refunded: 0 });
    const batch = (await batchesOf(jobId))[0]!;
    expect(batch).toMatchObject({ state: 'done', attempt: 2, success: 5 });

    pages.release();
    await Promise.race([
      slow,
      fixture.eventually('the late worker has read', () => fixture.requestedItems().length === 10),
    ]);
    expect(await jobOf(jobId)).toEqual(ended);
    expect((await batchesOf(jobId))[0]).toEqual(batch);
    expect(await fixture.problems()).toEqual([]);
  });

  test('that lost its claim and lives does not make the batch suspect', async () => {
    const { jobId, messages } = await approved(5);
    const pages = heldPages();
    const slow = work(fixture.context, messages[0]!, () => {}, never);
    await fixture.eventually('pages are asked for', () => pages.waiting() === 5);
    const { store, clock } = fixture.context;
    const key = batchKey(messages[0]!);
    // A process whose clock is ahead.
    const later = clock.now() + leaseMs + 1;
    expect(await store.batches.claim(key, 1, later, later + leaseMs)).toMatchObject({
      stalledClaims: 2,
    });
    await fixture.clock.advance(leaseMs / 3);
    pages.release();
    await slow;
    const [batch] = await collectBatches(jobId);
    expect(batch).toMatchObject({ state: 'claimed', attempt: 2, stalledClaims: 1, outcomes: {} });
  });

  test('takes over the batch of a process that is gone before its claim expires', async () => {
    const { jobId, messages } = await approved(5);
    const pages = heldPages();
    const [message] = messages;
    const cutOff = work(fixture.context, message!, () => {}, never);
    await fixture.eventually('pages are asked for', () => pages.waiting() === 5);
    fixture.wrapFetch((fetch) => fetch);
    await work(fixture.context, message!, () => {}, never);
    expect((await batchesOf(jobId))[0]).toMatchObject({ state: 'claimed', attempt: 1 });
    await work(fixture.context, { ...message!, isTakenOver: true }, () => {}, never);
    expect(await jobOf(jobId)).toMatchObject({ state: 'completed', refunded: 0 });
    const batch = (await batchesOf(jobId))[0]!;
    expect(batch).toMatchObject({ state: 'done', attempt: 2, success: 5 });
    await fixture.clock.advance(leaseMs / 3);
    pages.release();
    await cutOff;
    expect((await batchesOf(jobId))[0]).toEqual(batch);
    expect(await fixture.problems()).toEqual([]);
  });

  test('renews its claim while it works', async () => {
    const { jobId, messages } = await approved(3);
    const pages = heldPages();
    let extended = 0;
    const working = work(fixture.context, messages[0]!, () => (extended += 1), never);
    await fixture.eventually('pages are asked for', () => pages.waiting() === 3);
    for (let round = 0; round < 6; round++) {
      await fixture.clock.advance(leaseMs / 2);
      await sweep(fixture.context);
    }
    expect(messages).toHaveLength(1);
    expect(extended).toBeGreaterThan(5);
    pages.release();
    await working;
    expect(await jobOf(jobId)).toMatchObject({ state: 'completed' });
  });

  test('releases its batch with the finished units when it stops, and the next worker continues from there', async () => {
    const { jobId, messages } = await approved(50);
    const stopping = new AbortController();
    let left = 20;
    const held = Promise.withResolvers<void>();
    fixture.wrapFetch((fetch) => async (request) => {
      if (left-- > 0) {
        // Advances time until the finished units are written.
        await fixture.clock.advance(150);
        return fetch(request);
      }
      stopping.signal.addEventListener('abort', () => held.reject(stopping.signal.reason), {
        once: true,
      });
      await held.promise;
      return fetch(request);
    });
    const working = work(fixture.context, messages.shift()!, () => {}, stopping.signal);
    await fixture.eventually('it hangs', () => left <= -8);
    stopping.abort(new Error('stop'));
    await working;
    const batch = (await batchesOf(jobId))[0]!;
    expect(batch).toMatchObject({ state: 'queued', attempt: 1 });
    expect(batch.success).toBeGreaterThan(0);
    expect(messages).toHaveLength(1);

    const asked = fixture.requestedItems().length;
    fixture.wrapFetch((fetch) => fetch);
    await work(fixture.context, messages[0]!, () => {}, never);
    expect(fixture.requestedItems().length - asked).toBe(50 - batch.success);
    const job = await jobOf(jobId);
    expect(job).toMatchObject({ state: 'completed', refunded: 0 });
    // Both files contain every item's record once, including the ones of the first attempt.
    for (const file of [job.file, (await batchesOf(jobId))[0]!.file]) {
      const records = JSON.parse((await readBatchFile(fixture.context, file!)).toString());
      expect(records).toHaveLength(50);
      expect(records.filter((record: object) => 'error' in record)).toEqual([]);
    }
    expect(await fixture.problems()).toEqual([]);
  });

  test('releases its batch if its store becomes unavailable, and another worker finishes it', async () => {
    const { jobId, messages } = await approved(5);
    const { store } = fixture.context;
    const away = async () => {
      throw new Fault('unavailable', 'The store is away.');
    };
    const cut = replaceMethods(store, { batches: { recordOutcomes: away, update: away } });
    await work({ ...fixture.context, store: cut }, messages[0]!, () => {}, never);
    await fixture.clock.advance(leaseMs + 1);
    await sweep(fixture.context);
    await work(fixture.context, messages.at(-1)!, () => {}, never);
    expect(await jobOf(jobId)).toMatchObject({ state: 'completed', refunded: 0 });
    expect(await fixture.problems()).toEqual([]);
  });
});

test('a job has no more batches in flight than its window, and completes through it', async () => {
  const { jobId, messages } = await approved(520);
  let most = 0;
  while (messages.length > 0) {
    const inFlight = (await batchesOf(jobId)).filter(({ state }) =>
      /queued|claimed/.test(state),
    ).length;
    most = Math.max(most, inFlight);
    expect(messages.length).toBeLessThanOrEqual(inFlight);
    await work(fixture.context, messages.shift()!, () => {}, never);
  }
  expect(most).toBe(2);
  expect(await jobOf(jobId)).toMatchObject({ state: 'completed', totalBatches: 11 });
});
