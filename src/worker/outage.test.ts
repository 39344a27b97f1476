import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../test/support/jobs/jobs.ts';
import type { Blobs } from '../blobs/blobs.ts';
import { Fault } from '../contract/fault.ts';
import { countsOf, firstWait, inFlightOf } from '../store/batch-store.ts';
import type { Job } from '../store/documents.ts';
import { wrapMethods } from '../store/wrap.ts';
import { sweep } from '../sweep/sweep.ts';
import { createStorageBreaker } from './storage-breaker.ts';

const urls = ['https://mkta.sg/shop/21', 'https://mkta.sg/shop/22'];
const away = () => new Fault('unavailable', 'The storage is away.');

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture({ approval: false });
});
afterEach(() => fixture.close());

/** Installs a result storage that can be unavailable, or respond and reject writes. */
function storage(): { state: 'there' | 'refusing' | 'away' } {
  const { blobs } = fixture.context;
  const control: { state: 'there' | 'refusing' | 'away' } = { state: 'there' };
  const write: Blobs['write'] = async (path, contentType, chunks, items) => {
    if (control.state === 'there') return blobs.write(path, contentType, chunks, items);
    // Reads the whole input, as the real storage does, before the write fails.
    for await (const chunk of chunks) expect(chunk).toBeDefined();
    throw away();
  };
  const ping = async () => {
    if (control.state === 'away') throw away();
    await blobs.ping();
  };
  fixture.context.blobs = { ...blobs, write, ping };
  return control;
}

/** Advances the clock as in a running service. */
async function passMinutes(minutes: number): Promise<void> {
  for (let step = 0; step < minutes * 12; step += 1) {
    await fixture.clock.advance(5_000);
    await sweep(fixture.context);
  }
}

/** Advances the clock until the job is completed, however long writing its files takes. */
async function completes(jobId: string): Promise<Job> {
  await fixture.eventually('the job is completed', async () => {
    await passMinutes(1 / 12);
    return (await fixture.context.store.jobs.get(jobId))?.state === 'completed';
  });
  return (await fixture.context.store.jobs.get(jobId))!;
}

async function submit(method: string, request: object): Promise<string> {
  const userId = await fixture.createUser(10_000);
  return (await fixture.submit(userId, method, request as never)).jobId;
}

describe('an outage of the result storage', () => {
  test('stops fetching pages once it is known, and work resumes soon after it ends', async () => {
    const control = storage();
    control.state = 'away';
    await fixture.startWorker();
    const jobId = await submit('SubmitMerchantItems', { urls });
    await passMinutes(10);
    expect(fixture.requestedItems()).toHaveLength(0);
    expect(
      (await fixture.context.store.batches.find({ jobId })).map(({ attempt }) => attempt),
    ).toEqual([0, 0]);
    control.state = 'there';
    expect(await completes(jobId)).toMatchObject({ refunded: 0 });
    expect(await fixture.problems()).toEqual([]);
  });

  test('that affects only writes delays each further attempt of a listing', async () => {
    const control = storage();
    const healthy = await submit('SubmitMerchantItems', { urls: urls.slice(0, 1) });
    await fixture.startWorker();
    await fixture.waitForState(healthy, 'completed');
    const pages = fixture.requestedItems().length;
    control.state = 'refusing';
    const jobId = await submit('SubmitMerchantItems', { urls: urls.slice(0, 1) });
    await passMinutes(10);
    const reads = (fixture.requestedItems().length - pages) / pages;
    // Delays of 2, 4, 8 … 256, 300 seconds, each up to half shorter; without back-off it would be
    // 300 pages.
    expect(reads).toBeGreaterThan(4);
    expect(reads).toBeLessThan(14);
    const wait = await firstWait(fixture.context.store, jobId, 0);
    expect(wait).toMatchObject({ reason: 'storage unavailable', failures: expect.any(Number) });
    expect(wait!.failures).toBeGreaterThan(4);
    control.state = 'there';
    await completes(jobId);
  });

  test('lets one listing of many try at a time', async () => {
    const control = storage();
    control.state = 'refusing';
    await fixture.startWorker();
    const jobId = await submit('SubmitMerchantItems', {
      urls: Array.from({ length: 40 }, (_, at) => `https://mkta.sg/shop/${21 + (at % 2)}`),
    });
    await passMinutes(10);
    const { batches } = await inFlightOf(fixture.context.store, jobId, fixture.clock.now());
    expect(batches).toBeGreaterThan(0);
    const attempts = (await fixture.context.store.batches.find({ jobId })).map(
      ({ attempt }) => attempt,
    );
    // The requests in progress when the outage began, and one per trial.
    expect(attempts.reduce((sum, attempt) => sum + attempt, 0)).toBeLessThan(8 + 14);
  });

  test('does not refetch a page whose record was read, but repeats the write', async () => {
    const control = storage();
    control.state = 'refusing';
    await fixture.startWorker();
    const jobId = await submit('SubmitVariantSold', variantSoldRequest(3));
    await passMinutes(10);
    expect(fixture.requestedItems()).toHaveLength(3);
    const wait = await firstWait(fixture.context.store, jobId, fixture.clock.now());
    expect(wait).toMatchObject({ reason: 'storage unavailable', failures: expect.any(Number) });
    expect(wait!.failures).toBeGreaterThan(4);
    control.state = 'there';
    const job = await completes(jobId);
    expect([job.file?.items, job.refunded]).toEqual([3, 0]);
    expect(fixture.requestedItems()).toHaveLength(3);
    expect(await firstWait(fixture.context.store, jobId, fixture.clock.now())).toBeNull();
  });

  test('delays single tasks, too, because their records are stored there', async () => {
    const control = storage();
    control.state = 'away';
    await fixture.startWorker();
    const userId = await fixture.createUser(100);
    await fixture.submit(userId, 'SubmitGetPc', {
      region: 'sg',
      itemId: '30000000001',
      shopId: '77',
    });
    const [job] = (await fixture.context.store.jobs.list({ userId }, { limit: 1 })).items;
    await passMinutes(1);
    expect(fixture.requestedItems()).toHaveLength(0);
    control.state = 'there';
    await completes(job!.id);
  });
});

describe('the breaker of the result storage', () => {
  const write = (breaker: ReturnType<typeof createStorageBreaker>, fault?: Fault) => () =>
    breaker.blobs.write(
      'job/part.json',
      'application/json',
      (async function* () {
        yield Buffer.from('{}');
        if (fault) throw fault;
      })(),
      () => 1,
    );

  test('begins another trial after one that wrote nothing', async () => {
    const control = storage();
    const breaker = createStorageBreaker(fixture.context);
    control.state = 'refusing';
    await expect(breaker.during(write(breaker))).rejects.toThrow('The storage is away.');
    await expect(breaker.during(write(breaker))).rejects.toThrow('does not answer');
    await fixture.clock.advance(10_000);
    control.state = 'there';
    await breaker.during(async () => {
      await expect(breaker.during(write(breaker))).rejects.toThrow('does not answer');
    });
    await breaker.during(write(breaker));
    await breaker.during(write(breaker));
  });

  test('begins another trial beside one whose site is slow', async () => {
    const control = storage();
    const breaker = createStorageBreaker(fixture.context);
    control.state = 'refusing';
    await expect(breaker.during(write(breaker))).rejects.toThrow('The storage is away.');
    await fixture.clock.advance(10_000);
    control.state = 'there';
    const [begun, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const trial = breaker.during(() => {
      begun.resolve();
      return slow.promise;
    });
    await begun.promise;
    await fixture.clock.advance(59_000);
    await expect(breaker.during(write(breaker))).rejects.toThrow('does not answer');
    await fixture.clock.advance(1_000);
    await breaker.during(write(breaker));
    slow.resolve();
    await trial;
    await breaker.during(write(breaker));
  });

  test('stays closed after a fault of the store while records are read', async () => {
    const breaker = createStorageBreaker(fixture.context);
    const away = new Fault('unavailable', 'The store is away.', { component: 'store' });
    await expect(breaker.during(write(breaker, away))).rejects.toThrow('The store is away.');
    await breaker.during(write(breaker));
  });
});

test('units read before an engine failed are not read again', async () => {
  const broken = '30000000000';
  let isAway = true;
  fixture.wrapFetch((fetch, itemId) => async (request) => {
    if (itemId === broken && isAway) {
      await fixture.eventually('the others are read', () => fixture.requestedItems().length >= 20);
      throw away();
    }
    return fetch(request);
  });
  await fixture.startWorker();
  const jobId = await submit('SubmitVariantSold', variantSoldRequest(20));
  await fixture.eventually('all but one are recorded', async () => {
    return (await countsOf(fixture.context.store, jobId)).units.success === 19;
  });
  isAway = false;
  await completes(jobId);
  const others = fixture.requestedItems().filter((itemId) => itemId !== broken);
  expect(others).toHaveLength(19);
});

test('pages are not fetched repeatedly while the store is unavailable', async () => {
  let isAway = false;
  fixture.context.store = wrapMethods(fixture.context.store, (_, method) => (...parameters) => {
    if (isAway) return Promise.reject(away());
    return method(...parameters);
  });
  fixture.wrapFetch((fetch) => async (request) => {
    isAway = true;
    return fetch(request);
  });
  await fixture.startWorker();
  const jobId = await submit('SubmitVariantSold', variantSoldRequest(3));
  await passMinutes(10);
  expect(fixture.requestedItems()).toHaveLength(3);
  fixture.wrapFetch((fetch) => fetch);
  isAway = false;
  await completes(jobId);
  expect(fixture.requestedItems().length).toBeLessThanOrEqual(6);
  expect(await fixture.problems()).toEqual([]);
});
