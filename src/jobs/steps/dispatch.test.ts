import { hostname } from 'node:os';
import { afterEach, describe, expect, test } from 'vitest';
import { plainIds } from '../../../sandbox/mkta/ids.ts';
import {
  type JobFixture,
  noon,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { parseWorkingHours } from '../../base/working-hours.ts';
import { Fault } from '../../contract/fault.ts';
import { sampleMessage } from '../../queue/conformance.ts';
import { countsOf, inFlightOf } from '../../store/batch-store.ts';
import { type BatchReference, batchKey } from '../../store/batches.ts';
import { releaseBatch } from '../../store/claims.ts';
import { aBatch, aFailure, aJob, aProcess, units } from '../../store/conformance/samples.ts';
import { queueUnavailable } from '../../store/operations.ts';
import { replaceMethods } from '../../store/wrap.ts';
import { sweep } from '../../sweep/sweep.ts';
import { isOpen } from '../queries/progress.ts';
import { approve } from './decide.ts';
import { dispatch, failUnqueued, publish, tryDispatch } from './dispatch.ts';
import { finalizeJob } from './finalize-job.ts';

const hourMs = 3_600_000;
/** The fixture's clock starts at noon in GMT+8. */
const workingHours = parseWorkingHours('13:00-14:00+08:00');
let fixture: JobFixture;

afterEach(() => fixture.close());

test.each([
  ['off', false],
  ['on', true],
])('processes a job outside working hours with approval %s, and it waits', async (_, approval) => {
  fixture = await openJobFixture({ approval, workingHours });
  const { context, clock } = fixture;
  const user = await fixture.createUser(100);
  const { jobId } = await fixture.submit(user, 'SubmitVariantSold', variantSoldRequest(3));
  if (approval) await approve(context, jobId, user);
  await fixture.startWorker();
  const look = () => fixture.read(user, 'RetrieveVariantSold', { jobId });

  await sweep(context);
  expect(await look()).toMatchObject({ status: 'processing', jobStatus: 'pending' });
  expect(fixture.requestedItems()).toEqual([]);

  await clock.advance(hourMs);
  expect(clock.now()).toBe(noon + hourMs);
  await sweep(context);
  await fixture.waitForState(jobId, 'completed');
  expect(await look()).toMatchObject({ status: 'completed', jobStatus: 'completed' });
});

test('batches dispatched before the end of working hours finish, others wait for the next day', async () => {
  fixture = await openJobFixture({
    approval: false,
    workingHours: parseWorkingHours('08:00-12:30+08:00'),
    jobWindow: 1,
  });
  const { context, clock } = fixture;
  const user = await fixture.createUser(2_000);
  const { jobId } = await fixture.submit(user, 'SubmitVariantSold', variantSoldRequest(60));
  await clock.advance(hourMs);
  await fixture.startWorker();
  const look = () => fixture.read(user, 'RetrieveVariantSold', { jobId });

  await fixture.eventually('one batch is done', async () =>
    (await look()).progress.startsWith('1/2'),
  );
  await sweep(context);
  expect(await look()).toMatchObject({ status: 'processing', progress: '1/2 batches complete' });

  await clock.advance(20 * hourMs);
  await sweep(context);
  await fixture.waitForState(jobId, 'completed');
});

describe('deferred batches', () => {
  const minuteMs = 60_000;

  /**
   * A running job whose first `count` batches are deferred while others wait; returns what is
   * queued next.
   */
  async function nextOf(
    regions: readonly string[],
    putOff: number,
    jobWindow: number,
  ): Promise<number[]> {
    fixture = await openJobFixture({ jobWindow });
    const { store } = fixture.context;
    const fields = {
      market: 'mkta',
      kind: 'get_pc_bulk',
      state: 'processing',
      region: '',
    } as const;
    const job = aJob({ ...fields, totalBatches: regions.length, totalUnits: regions.length });
    const batches = regions.map((region, seq) => aBatch(job, seq, units(1), { region }));
    await store.jobs.create(job, batches);
    for (const reference of await store.batches.queue(job.id, putOff, noon)) {
      const key = batchKey(reference);
      await store.batches.claim(key, 0, noon, noon + minuteMs);
      await releaseBatch(store, { ...key, attempt: 1 }, noon + minuteMs);
    }
    await dispatch(fixture.context, job);
    const listed = await store.batches.find({ jobId: job.id });
    return listed
      .filter(({ state, attempt }) => state === 'queued' && attempt === 0)
      .map(({ seq }) => seq);
  }

  test("leave their job's window to the next batches", async () => {
    expect(await nextOf(['sg', 'sg', 'sg', 'sg', 'sg', 'sg'], 2, 3)).toEqual([2, 3, 4]);
  });

  test('leave the window only up to its size per region, while other regions continue', async () => {
    expect(await nextOf(['sg', 'sg', 'sg', 'id', 'sg', 'th', 'id', 'id'], 2, 2)).toEqual([3, 5, 6]);
    await fixture.close();
    expect(await nextOf(['sg', 'sg', 'sg', 'id', 'sg', 'th'], 2, 2)).toEqual([3, 5]);
    await fixture.close();
    expect(await nextOf(['sg', 'sg', 'sg', 'sg'], 2, 2)).toEqual([]);
  });

  test('do not affect the window of other stores if clients name the stores', async () => {
    expect(await nextOf(['', '', '', '', '', ''], 3, 2)).toEqual([3, 4]);
  });

  test('do not delay the rest of the job if their region is blocked, and resume in time', async () => {
    fixture = await openJobFixture({ jobWindow: 2 });
    const { context, clock } = fixture;
    const rows = plainIds(120).map((item, at) => ({
      item: `${item}`,
      region: at < 100 ? 'sg' : 'id',
    }));
    const isBlocked = (item: string) => rows.find((row) => row.item === item)!.region === 'sg';
    const read: string[] = [];
    fixture.wrapFetch((fetch, item) => async (request) => {
      const ms = noon + 5 * minuteMs - clock.now();
      if (ms > 0 && isBlocked(item)) {
        throw new Fault('origin_paused', 'mkta/sg: blocked (page_blocked)', { retryAfterMs: ms });
      }
      read.push(item);
      return fetch(request);
    });
    const user = await fixture.createUser(2_000);
    const lines = rows.map(({ region, item }) => `${region},7,${item}\n`);
    const file = Buffer.from(`region,shop_id,item_id\n${lines.join('')}`).toString('base64');
    const { taskId } = await fixture.submit(user, 'SubmitGetPcBulk', {
      file,
      rescrape: true,
      resultFormat: 'jsonl',
    });
    const { id } = (await context.store.jobs.find({ number: taskId }))[0]!;
    await fixture.startWorker();
    await fixture.eventually('the other region is read', async () => {
      const { byRegion, deferred: putOff } = await inFlightOf(context.store, id, clock.now());
      for (const count of byRegion.values()) expect(count).toBeLessThanOrEqual(2);
      expect(putOff.get('sg') ?? 0).toBeLessThan(4);
      return (await countsOf(context.store, id)).units.success === 20;
    });
    expect(read.some(isBlocked)).toBe(false);
    for (let minute = 0; minute < 5; minute += 1) await clock.advance(minuteMs);
    await fixture.waitForState(id, 'completed');
    expect(read.toSorted()).toEqual(rows.map(({ item }) => item).toSorted());
    expect(await fixture.problems()).toEqual([]);
  });
});

/** A running job of batches in one region, some of them queued. */
async function running(batchCount: number, queued: number, jobWindow: number) {
  fixture = await openJobFixture({ jobWindow });
  const { store } = fixture.context;
  const fields = { market: 'mkta', kind: 'get_pc_bulk', state: 'processing' } as const;
  const job = aJob({ ...fields, totalBatches: batchCount, totalUnits: batchCount });
  const batches = Array.from({ length: batchCount }, (_, seq) =>
    aBatch(job, seq, units(1), { region: 'sg' }),
  );
  await store.jobs.create(job, batches);
  return { job, references: await store.batches.queue(job.id, queued, noon) };
}

describe('publish()', () => {
  test.each([
    ['mktf', '', 'https://shop.example:8443/collections/lamps', 'shop.example:8443'],
    ['mkta', 'id', '30000000001', undefined],
  ])('names the store of a unit of %s that has one', async (market, region, unitKey, store) => {
    fixture = await openJobFixture({});
    const sent: BatchReference[] = [];
    const queue = {
      ...fixture.context.queue,
      publish: async (each: BatchReference) => sent.push(each) > 0,
    };
    const reference = sampleMessage(1, { market, region });
    await publish({ ...fixture.context, queue }, [{ ...reference, unitKey }]);
    expect(sent).toEqual([store === undefined ? reference : { ...reference, store }]);
  });
});

describe('dispatch()', () => {
  test.each([
    [7, 7],
    [6, 8],
    [0, 8],
  ])(
    'refills a window of 8 once a quarter of it is free: %i in flight become %i',
    async (before, after) => {
      const { job } = await running(12, before, 8);
      expect(await dispatch(fixture.context, job)).toBe('dispatched');
      expect((await inFlightOf(fixture.context.store, job.id, noon)).batches).toBe(after);
    },
  );

  test('says whether a batch is in flight, so that a job ends after its last one', async () => {
    const { job, references } = await running(2, 2, 8);
    const { batches } = fixture.context.store;
    for (const key of references.map(batchKey)) {
      expect(await dispatch(fixture.context, job)).toBe('dispatched');
      await batches.claim(key, 0, noon, noon + 1_000);
      await batches.recordOutcomes(key, 1, {
        outcomes: { 0: aFailure },
        end: { file: null, at: noon },
      });
    }
    expect(await dispatch(fixture.context, job)).toBe('idle');
  });

  test('starts an approved job, and keeps the start time of a running one', async () => {
    const { job } = await running(2, 0, 1);
    const { store } = fixture.context;
    await dispatch(fixture.context, job);
    expect(await store.jobs.get(job.id)).toEqual(job);
    const approved = await store.jobs.move(job.id, ['processing'], 'approved', noon);
    await dispatch(fixture.context, approved!);
    expect(await store.jobs.get(job.id)).toMatchObject({ state: 'processing', startedAt: noon });
  });

  test('queues nothing outside working hours', async () => {
    fixture = await openJobFixture({ workingHours });
    const job = aJob({ market: 'mkta', kind: 'variant_sold', state: 'processing' });
    await fixture.context.store.jobs.create(job, [aBatch(job, 0, units(1))]);
    expect(await dispatch(fixture.context, job)).toBe('closed');
    expect(await fixture.context.store.batches.find({ jobId: job.id })).toMatchObject([
      { state: 'waiting' },
    ]);
  });

  test.each([
    [
      'once for a job of one region',
      { region: 'sg', regions: ['sg', 'id', 'th'], queued: 0, writes: 1 },
    ],
    ['once for a market of one region', { region: '', regions: ['sg'], queued: 0, writes: 1 }],
    ['once for a market without regions', { region: '', regions: [], queued: 0, writes: 1 }],
    [
      'for each region, and for none, otherwise',
      { region: '', regions: ['sg', 'id'], queued: 0, writes: 3 },
    ],
    [
      'not at all while the window is full',
      { region: 'sg', regions: ['sg'], queued: 4, writes: 0 },
    ],
    [
      'not for a region of a full window',
      { region: '', regions: ['sg', 'id'], queued: 4, writes: 2 },
    ],
  ])('writes to the store %s', async (_when, { region, regions, queued, writes }) => {
    const { job } = await running(8, queued, 4);
    const { context } = fixture;
    const jobType = context.jobTypes.of(job);
    context.jobTypes = {
      ...context.jobTypes,
      of: () => ({ ...jobType, market: { ...jobType.market, regions } }),
    };
    context.pages = { ...context.pages, concurrency: () => 1 };
    const { store } = context;
    let written = 0;
    context.store = replaceMethods(store, {
      batches: {
        queue: (...parameters) => {
          written += 1;
          return store.batches.queue(...parameters);
        },
      },
    });
    await dispatch(context, { ...job, region });
    expect(written).toBe(writes);
  });
});

test('failUnqueued() fails waiting and queued batches with not_queued unless the queue responds', async () => {
  const { job } = await running(2, 1, 4);
  const { context } = fixture;
  const { store, queue } = context;
  expect(await failUnqueued(context, job)).toBe(job);
  const stateOf = async () =>
    (await store.batches.find({ jobId: job.id })).map(({ state }) => state);
  expect(await stateOf()).toEqual(['queued', 'waiting']);
  context.queue = {
    ...queue,
    ping: () => Promise.reject(new Fault('unavailable', 'The broker is gone.')),
  };
  expect(await failUnqueued(context, job)).toMatchObject({ state: 'failed' });
  const message = expect.stringContaining('the message broker did not respond');
  for await (const { outcomes } of store.batches.read(job.id))
    expect(outcomes).toEqual({ 0: { status: 'FAILED', code: 'not_queued', message } });
});

test('failUnqueued() leaves the batches to the sweep while another process reaches the queue', async () => {
  const { job } = await running(2, 1, 4);
  const { context } = fixture;
  const { store, queue, clock } = context;
  context.queue = {
    ...queue,
    ping: () => Promise.reject(new Fault('unavailable', 'The broker is gone.')),
  };
  const seenAt = clock.now();
  const other = aProcess({ seenAt, paused: '' });
  const own = aProcess({ seenAt, paused: '', host: hostname(), pid: process.pid });
  const cut = aProcess({ seenAt, paused: queueUnavailable });
  await store.processes.upsert([other, own, cut]);
  expect(await failUnqueued(context, job)).toBe(job);
  await store.processes.remove({ id: other.id });
  expect(await failUnqueued(context, job)).toMatchObject({ state: 'failed' });
});

describe('publish()', () => {
  test.each([
    [0, 'dispatched'],
    [1, 'partial'],
    [3, 'unqueued'],
  ] as const)(
    'with %i of 3 rejected returns %s, and defers those by 5 seconds',
    async (refused, result) => {
      const { job, references } = await running(3, 3, 4);
      const { store, queue } = fixture.context;
      const wrong = new Set(references.slice(0, refused).map(({ batchId }) => batchId));
      fixture.context.queue = {
        ...queue,
        publish: async ({ batchId }) => {
          if (wrong.has(batchId)) throw new Fault('unavailable', 'refused');
          return true;
        },
      };
      expect(await publish(fixture.context, references)).toBe(result);
      for (const { id, state, notBefore } of await Array.fromAsync(store.batches.read(job.id))) {
        const waits = { state: 'waiting', notBefore: noon + 5_000 };
        expect({ state, notBefore }).toEqual(
          wrong.has(id) ? waits : { state: 'queued', notBefore: null },
        );
      }
    },
  );
});

test('tryDispatch() leaves an error of the store to the sweep', async () => {
  const { job } = await running(1, 0, 1);
  const countInFlight = () => Promise.reject(new Fault('unavailable', 'The store is away.'));
  const store = replaceMethods(fixture.context.store, {
    batches: { countInFlight: countInFlight },
  });
  expect(await tryDispatch({ ...fixture.context, store }, job)).toBe('deferred');
  expect(await tryDispatch(fixture.context, job)).toBe('dispatched');
});

test('isOpen() applies only to kinds with working hours', async () => {
  fixture = await openJobFixture({ workingHours });
  const open = (kind: string) => isOpen(fixture.context, aJob({ market: 'mkta', kind }));
  expect([open('variant_sold'), open('get_pc')]).toEqual([false, true]);
  await fixture.clock.advance(hourMs);
  expect([open('variant_sold'), open('get_pc')]).toEqual([true, true]);
  fixture.context.settings.workingHours = null;
  await fixture.clock.advance(2 * hourMs);
  expect(open('variant_sold')).toBe(true);
});

test('batches that could not be queued are refunded once, even if another process ends the job meanwhile', async () => {
  fixture = await openJobFixture();
  const { context } = fixture;
  const { store } = context;
  const down = async () => {
    throw new Fault('unavailable', 'The queue does not answer.');
  };
  context.queue = { ...context.queue, publish: down, ping: down };
  context.store = replaceMethods(store, {
    batches: {
      async fail(jobId, ...parameters) {
        const ended = await store.batches.fail(jobId, ...parameters);
        await finalizeJob({ ...context, store }, jobId);
        return ended;
      },
    },
  });
  const user = await fixture.createUser(100);
  const file = Buffer.from('region,shop_id,item_id\nsg,7,1\nsg,7,2\n').toString('base64');
  expect(await fixture.submit(user, 'SubmitGetPcBulk', { file })).toMatchObject({
    cost: 16,
    refunded: 16,
  });
  expect(await fixture.balance(user)).toBe(100);
  expect(await fixture.problems()).toEqual([]);
});

test.each([
  [8, 16, 16],
  [2_000, 16, 80],
  [2_000, 90, 90],
])(
  'limits a job by a concurrency of %d and a setting of %d to %d batches in flight',
  async (concurrency, jobWindow, expected) => {
    fixture = await openJobFixture({ jobWindow });
    const { context } = fixture;
    context.pages = { ...context.pages, concurrency: () => concurrency };
    const job = aJob({
      market: 'mkta',
      kind: 'variant_sold',
      state: 'processing',
      totalBatches: 100,
      totalUnits: 100,
    });
    await context.store.jobs.create(
      job,
      Array.from({ length: 100 }, (_, seq) => aBatch(job, seq, units(1))),
    );
    await dispatch(context, job);
    expect((await inFlightOf(context.store, job.id, noon)).batches).toBe(expected);
  },
);
