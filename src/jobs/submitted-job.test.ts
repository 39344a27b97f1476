import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { grant, type JobsBench, noon, openJobs, variantSoldRequest } from '../../test/support/jobs.ts';
import { Fault } from '../base/fault.ts';
import { sweep } from '../sweep/sweep.ts';

let bench: JobsBench;
beforeEach(async () => {
  bench = await openJobs({ approval: false });
});
afterEach(() => bench.close());

describe('the job of a submit', () => {
  test('starts with every field of an unfinished job, and so do its batches', async () => {
    const userId = await bench.createUser(1_000);
    const rows = ['region,shop_id,item_id', 'sg,7,1', 'sg,7,2', 'id,7,3'].join('\n');
    const file = Buffer.from(rows).toString('base64');
    const { taskId } = await bench.submit(userId, 'SubmitGetPcBulk', { file, resultFormat: 'jsonl' });
    const job = (await bench.context.store.getJobByNumber(taskId))!;
    expect(job).toEqual({
      id: job.id,
      number: Number(taskId),
      userId,
      market: 'mkta',
      kind: 'get_pc_bulk',
      region: '',
      lane: job.lane,
      state: 'processing',
      stateSince: noon,
      params: job.params,
      unitPrice: 8,
      cost: 24,
      refunded: 0,
      totalUnits: 3,
      totalBatches: 2,
      createdAt: noon,
      resumable: false,
      decideBy: null,
      decidedBy: null,
      reason: '',
      startedAt: noon,
      finishedAt: null,
      file: null,
      retryOf: null,
      counts: null,
      noticeDue: null,
      noticeAt: null,
    });
    const batches = await Array.fromAsync(bench.context.store.readBatches(job.id));
    const begun = { attempt: 0, leaseUntil: null, notBefore: null, endedAt: null, stalledClaims: 0 };
    const empty = { outcomes: {}, success: 0, failed: 0, file: null, parts: [], solo: null };
    expect(batches.map(({ units, ...batch }) => ({ ...batch, units: units.length }))).toMatchObject([
      { ...begun, ...empty, seq: 0, region: 'sg', units: 2, state: 'queued', queuedAt: noon },
      { ...begun, ...empty, seq: 1, region: 'id', units: 1, state: 'queued', queuedAt: noon },
    ]);
  });

  test.each([
    ['SubmitVariantSold', variantSoldRequest(2), 0],
    ['SubmitMerchantItems', { urls: ['https://mkta.sg/shop/21'] }, 1],
  ])(
    'of %s waits 24 hours for approval, and its batches are not queued',
    async (method, request, charges) => {
      bench.context.settings.approval = true;
      const userId = await bench.createUser(1_000);
      await bench.submit(userId, method, request);
      const [job] = (await bench.context.store.listJobs({ userId }, { limit: 2 })).items;
      expect(job).toMatchObject({
        number: null,
        state: 'awaiting_approval',
        decideBy: noon + 24 * 3_600_000,
        noticeDue: 'awaiting_approval',
        noticeAt: noon,
      });
      expect(await bench.context.store.listBatches(job!.id)).toMatchObject([{ state: 'waiting' }]);
      const { items } = await bench.context.store.listLedgerEntries(userId, { limit: 9 });
      expect(items.filter(({ type }) => type === 'charge')).toHaveLength(charges);
    },
  );

  test('costs what the settings say of its kind, or of its kind on its marketplace first', async () => {
    const userId = await bench.createUser(1_000);
    const costOf = async (...prices: [string, number][]) => {
      bench.context.settings.prices = new Map(prices);
      return (await bench.submit(userId, 'SubmitVariantSold', variantSoldRequest(2))).cost;
    };
    expect(await costOf()).toBe(20);
    expect(await costOf(['variant_sold', 3])).toBe(6);
    expect(await costOf(['variant_sold', 3], ['mkta.variant_sold', 4])).toBe(8);
    expect(await costOf(['mkta.variant_sold', 5], ['other.variant_sold', 6])).toBe(10);
  });
});

describe('a submit that is frozen after it wrote its job', () => {
  const body = variantSoldRequest(3);
  const away = () => Promise.reject(new Fault('unavailable', 'The store is away.'));
  let userId: string;
  beforeEach(async () => {
    userId = await bench.createUser(30);
  });
  const jobsOfUser = async () => (await bench.context.store.listJobs({ userId }, { limit: 9 })).items;

  /** Lets other processes act before the submit charges its job. */
  function meanwhile(act: () => Promise<void>): void {
    const { store } = bench.context;
    bench.context.store = {
      ...store,
      createJob: async (...job) => {
        await store.createJob(...job);
        bench.context.store = store;
        await bench.clock.pass(31_000);
        await act();
      },
    };
  }
  const discarded = { code: 'unavailable', message: expect.stringContaining('was discarded') };

  test('fails when the sweep has discarded it', async () => {
    meanwhile(() => sweep(bench.context));
    await expect(bench.submit(userId, 'SubmitVariantSold', body)).rejects.toMatchObject(discarded);
    expect(await jobsOfUser()).toEqual([]);
    expect(await bench.balance(userId)).toBe(30);
  });

  test('fails when the sweep is discarding it', async () => {
    meanwhile(() => sweep({ ...bench.context, store: { ...bench.context.store, discardJob: away } }));
    await expect(bench.submit(userId, 'SubmitVariantSold', body)).rejects.toMatchObject(discarded);
    expect(await bench.balance(userId)).toBe(30);
  });

  test('frees its key when the sweep has discarded it for lack of credits', async () => {
    meanwhile(async () => {
      await grant(bench.context, userId, -30);
      await sweep(bench.context);
      await grant(bench.context, userId, 30);
    });
    await expect(bench.submit(userId, 'SubmitVariantSold', body, 'key')).rejects.toMatchObject(discarded);
    expect(await bench.submit(userId, 'SubmitVariantSold', body, 'key')).toMatchObject({ cost: 30 });
  });

  test('returns the job that the sweep has accepted', async () => {
    meanwhile(() => sweep(bench.context));
    const { jobId } = await bench.submit(userId, 'SubmitVariantSold', body, 'key');
    expect(await jobsOfUser()).toMatchObject([{ id: jobId, state: 'processing' }]);
    expect(await bench.balance(userId)).toBe(0);
  });

  test('undoes it at once when the store fails and it has no key', async () => {
    const { store } = bench.context;
    let calls = 0;
    bench.context.store = {
      ...store,
      moveJob: (...parameters) => {
        calls += 1;
        return calls === 1 ? away() : store.moveJob(...parameters);
      },
    };
    await expect(bench.submit(userId, 'SubmitVariantSold', body)).rejects.toMatchObject({
      message: 'The store is away.',
    });
    expect(await jobsOfUser()).toEqual([]);
    expect(await bench.balance(userId)).toBe(30);
  });
});

describe('a submit that is frozen before it charges its job', () => {
  const body = variantSoldRequest(3);
  let userId: string;
  beforeEach(async () => {
    userId = await bench.createUser(30);
  });
  const statesOfUser = async () => {
    const { items } = await bench.context.store.listJobs({ userId }, { limit: 9 });
    return items.map(({ state }) => state);
  };

  /** Lets other processes act before a submit's next call of the store. */
  function actBefore(call: 'postLedgerEntry' | 'createJob', act: () => Promise<void>): void {
    const { store } = bench.context;
    const acting = async (...parameters: never[]) => {
      bench.context.store = store;
      await act();
      return (store[call] as (...parameters: never[]) => Promise<unknown>)(...parameters);
    };
    bench.context.store = { ...store, [call]: acting };
  }

  test('reports that the sweep discarded the job', async () => {
    actBefore('postLedgerEntry', async () => {
      await bench.clock.pass(31_000);
      await sweep(bench.context);
    });
    await expect(bench.submit(userId, 'SubmitVariantSold', body)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('was discarded'),
    });
    expect(await statesOfUser()).toEqual([]);
    expect(await bench.balance(userId)).toBe(30);
  });

  test('returns the job that the sweep accepted while the charge was refused', async () => {
    const { store } = bench.context;
    const postLedgerEntry: typeof store.postLedgerEntry = async (...parameters) => {
      bench.context.store = store;
      await grant(bench.context, userId, -30);
      try {
        return await store.postLedgerEntry(...parameters);
      } finally {
        await grant(bench.context, userId, 30);
        await bench.clock.pass(31_000);
        await sweep(bench.context);
      }
    };
    bench.context.store = { ...store, postLedgerEntry };
    expect(await bench.submit(userId, 'SubmitVariantSold', body, 'key')).toMatchObject({ cost: 30 });
    expect(await statesOfUser()).toEqual(['processing']);
    expect(await bench.balance(userId)).toBe(0);
  });

  test('leaves no job if a repeated submit discarded the job before it was written', async () => {
    const submit = () => bench.submit(userId, 'SubmitVariantSold', body, 'key');
    actBefore('createJob', async () => {
      await bench.clock.pass(61_000);
      actBefore('createJob', async () => grant(bench.context, userId, -1));
      await expect(submit()).rejects.toMatchObject({ code: 'insufficient_credits' });
      await grant(bench.context, userId, 1);
    });
    await expect(submit()).rejects.toMatchObject({ code: 'unavailable' });
    expect(await statesOfUser()).toEqual([]);
    expect(await bench.balance(userId)).toBe(30);
    expect(await bench.problems()).toEqual([]);
  });
});
