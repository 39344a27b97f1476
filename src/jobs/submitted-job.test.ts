import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type JobsBench, noon, openJobs, variantSoldRequest } from '../../test/support/jobs.ts';

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
