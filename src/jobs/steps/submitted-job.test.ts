import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  grant,
  type JobFixture,
  noon,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { Fault } from '../../contract/fault.ts';
import { replaceMethods, wrapMethods } from '../../store/wrap.ts';
import { sweep } from '../../sweep/sweep.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture({ approval: false });
});
afterEach(() => fixture.close());

describe('the job of a submission', () => {
  test('starts with every field of an unfinished job, as do its batches', async () => {
    const userId = await fixture.createUser(1_000);
    const rows = ['region,shop_id,item_id', 'sg,7,1', 'sg,7,2', 'id,7,3'].join('\n');
    const file = Buffer.from(rows).toString('base64');
    const { taskId } = await fixture.submit(userId, 'SubmitGetPcBulk', {
      file,
      resultFormat: 'jsonl',
    });
    const job = (await fixture.context.store.jobs.find({ number: taskId }))[0]!;
    expect(job).toEqual({
      id: job.id,
      number: Number(taskId),
      userId,
      keyId: null,
      mode: 'live',
      market: 'mkta',
      kind: 'get_pc_bulk',
      region: '',
      lane: job.lane,
      state: 'processing',
      stateSince: noon,
      dueAt: noon,
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
      rereadOf: null,
      schedule: null,
      counts: null,
      noticeDue: null,
      noticeAt: null,
      filesDeletedAt: null,
      fileDeletionDue: false,
      pagesUntil: null,
      hold: null,
      reusedUnitPrice: null,
      options: {},
    });
    const batches = await Array.fromAsync(fixture.context.store.batches.read(job.id));
    const begun = {
      attempt: 0,
      leaseUntil: null,
      notBefore: null,
      endedAt: null,
      stalledClaims: 0,
    };
    const empty = { outcomes: {}, success: 0, failed: 0, file: null, segments: [], isolated: null };
    expect(batches.map(({ units, ...batch }) => ({ ...batch, units: units.length }))).toMatchObject(
      [
        {
          ...begun,
          ...empty,
          seq: 0,
          region: 'sg',
          units: 2,
          state: 'queued',
          queuedAt: noon,
          publishedAt: noon,
        },
        {
          ...begun,
          ...empty,
          seq: 1,
          region: 'id',
          units: 1,
          state: 'queued',
          queuedAt: noon,
          publishedAt: noon,
        },
      ],
    );
  });

  test.each([
    ['SubmitVariantSold', variantSoldRequest(2), 0],
    ['SubmitMerchantItems', { urls: ['https://mkta.sg/shop/21'] }, 1],
  ])(
    'waits 24 hours for approval for %s, and its batches are not queued',
    async (method, request, charges) => {
      fixture.context.settings.approval = true;
      const userId = await fixture.createUser(1_000);
      await fixture.submit(userId, method, request);
      const [job] = (await fixture.context.store.jobs.list({ userId }, { limit: 2 })).items;
      expect(job).toMatchObject({
        number: null,
        state: 'awaiting_approval',
        decideBy: noon + 24 * 3_600_000,
        noticeDue: 'awaiting_approval',
        noticeAt: noon,
      });
      expect(await fixture.context.store.batches.find({ jobId: job!.id })).toMatchObject([
        { state: 'waiting' },
      ]);
      const { items } = await fixture.context.store.ledger.list({ userId }, { limit: 9 });
      expect(items.filter(({ type }) => type === 'charge')).toHaveLength(charges);
    },
  );

  test('is charged at the configured price of its kind, or first of its kind on its marketplace', async () => {
    const userId = await fixture.createUser(1_000);
    const costOf = async (...prices: [string, number][]) => {
      fixture.context.settings.prices = new Map(prices);
      return (await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(2))).cost;
    };
    expect(await costOf()).toBe(20);
    expect(await costOf(['variant_sold', 3])).toBe(6);
    expect(await costOf(['variant_sold', 3], ['mkta.variant_sold', 4])).toBe(8);
    expect(await costOf(['mkta.variant_sold', 5], ['other.variant_sold', 6])).toBe(10);
  });
});

describe('a submission suspended after it wrote its job', () => {
  const body = variantSoldRequest(3);
  const away = () => Promise.reject(new Fault('unavailable', 'The store is away.'));
  let userId: string;
  beforeEach(async () => {
    userId = await fixture.createUser(30);
  });
  const jobsOfUser = async () =>
    (await fixture.context.store.jobs.list({ userId }, { limit: 9 })).items;

  /** Lets other processes act before the submission charges its job. */
  function meanwhile(act: () => Promise<void>): void {
    const { store } = fixture.context;
    fixture.context.store = replaceMethods(store, {
      jobs: {
        create: async (...job) => {
          await store.jobs.create(...job);
          fixture.context.store = store;
          await fixture.clock.advance(31_000);
          await act();
        },
      },
    });
  }
  const discarded = { code: 'unavailable', message: expect.stringContaining('was discarded') };

  test('fails if the sweep discarded it', async () => {
    meanwhile(() => sweep(fixture.context));
    await expect(fixture.submit(userId, 'SubmitVariantSold', body)).rejects.toMatchObject(
      discarded,
    );
    expect(await jobsOfUser()).toEqual([]);
    expect(await fixture.balance(userId)).toBe(30);
  });

  test('fails if the sweep is discarding it', async () => {
    meanwhile(() =>
      sweep({
        ...fixture.context,
        store: replaceMethods(fixture.context.store, { jobs: { delete: away } }),
      }),
    );
    await expect(fixture.submit(userId, 'SubmitVariantSold', body)).rejects.toMatchObject(
      discarded,
    );
    expect(await fixture.balance(userId)).toBe(30);
  });

  test('frees its key if the sweep discarded it for lack of credits', async () => {
    meanwhile(async () => {
      await grant(fixture.context, userId, -30);
      await sweep(fixture.context);
      await grant(fixture.context, userId, 30);
    });
    await expect(fixture.submit(userId, 'SubmitVariantSold', body, 'key')).rejects.toMatchObject(
      discarded,
    );
    expect(await fixture.submit(userId, 'SubmitVariantSold', body, 'key')).toMatchObject({
      cost: 30,
    });
  });

  test('returns the job that the sweep accepted', async () => {
    meanwhile(() => sweep(fixture.context));
    const { jobId } = await fixture.submit(userId, 'SubmitVariantSold', body, 'key');
    expect(await jobsOfUser()).toMatchObject([{ id: jobId, state: 'processing' }]);
    expect(await fixture.balance(userId)).toBe(0);
  });

  test('undoes the job immediately if the store fails and it has no key', async () => {
    const { store } = fixture.context;
    let calls = 0;
    fixture.context.store = replaceMethods(store, {
      jobs: {
        move: (...parameters) => {
          calls += 1;
          return calls === 1 ? away() : store.jobs.move(...parameters);
        },
      },
    });
    await expect(fixture.submit(userId, 'SubmitVariantSold', body)).rejects.toMatchObject({
      message: 'The store is away.',
    });
    expect(await jobsOfUser()).toEqual([]);
    expect(await fixture.balance(userId)).toBe(30);
  });
});

describe('a submission suspended before it charges its job', () => {
  const body = variantSoldRequest(3);
  let userId: string;
  beforeEach(async () => {
    userId = await fixture.createUser(30);
  });
  const statesOfUser = async () => {
    const { items } = await fixture.context.store.jobs.list({ userId }, { limit: 9 });
    return items.map(({ state }) => state);
  };

  /** Lets other processes act before a submission's next call to the store. */
  function actBefore(call: 'ledger.post' | 'jobs.create', act: () => Promise<void>): void {
    const { store } = fixture.context;
    fixture.context.store = wrapMethods(store, (name, method) => {
      if (name !== call) return method;
      return async (...parameters) => {
        fixture.context.store = store;
        await act();
        return method(...parameters);
      };
    });
  }

  test('reports that the sweep discarded the job', async () => {
    actBefore('ledger.post', async () => {
      await fixture.clock.advance(31_000);
      await sweep(fixture.context);
    });
    await expect(fixture.submit(userId, 'SubmitVariantSold', body)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('was discarded'),
    });
    expect(await statesOfUser()).toEqual([]);
    expect(await fixture.balance(userId)).toBe(30);
  });

  test('returns the job that the sweep accepted while the charge was refused', async () => {
    const { store } = fixture.context;
    const post: typeof store.ledger.post = async (...parameters) => {
      fixture.context.store = store;
      await grant(fixture.context, userId, -30);
      try {
        return await store.ledger.post(...parameters);
      } finally {
        await grant(fixture.context, userId, 30);
        await fixture.clock.advance(31_000);
        await sweep(fixture.context);
      }
    };
    fixture.context.store = replaceMethods(store, { ledger: { post } });
    expect(await fixture.submit(userId, 'SubmitVariantSold', body, 'key')).toMatchObject({
      cost: 30,
    });
    expect(await statesOfUser()).toEqual(['processing']);
    expect(await fixture.balance(userId)).toBe(0);
  });

  test('leaves no job if a repeated submission discarded the job before it was written', async () => {
    const submit = () => fixture.submit(userId, 'SubmitVariantSold', body, 'key');
    actBefore('jobs.create', async () => {
      await fixture.clock.advance(61_000);
      actBefore('jobs.create', async () => grant(fixture.context, userId, -1));
      await expect(submit()).rejects.toMatchObject({ code: 'insufficient_credits' });
      await grant(fixture.context, userId, 1);
    });
    await expect(submit()).rejects.toMatchObject({ code: 'unavailable' });
    expect(await statesOfUser()).toEqual([]);
    expect(await fixture.balance(userId)).toBe(30);
    expect(await fixture.problems()).toEqual([]);
  });
});
