import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { newId } from '../../src/base/id.ts';
import {
  sendJson,
  submitItems,
  type TestUser,
  type VariantSoldItem,
  variantSold,
  watchJob,
} from '../support/service/api.ts';
import { until } from '../support/time/until.ts';
import type { Place } from './place.ts';

const workMs = 45_000;
const shop = '77';
const gone = '30000000801';
const droppedOnce = '30000000901';
const slow = '30000000900';

/** Creates `plain` existing items followed by the given ones. */
function itemsOf(count: number, ...more: string[]): VariantSoldItem[] {
  return [...plainIds(count).map(String), ...more].map((id) => ({ item_id: id, shop_id: shop }));
}

/** Downloads the records of a result file. */
async function records(
  link: string,
): Promise<{ itemId: string; error?: string; [name: string]: unknown }[]> {
  const { status, body } = await sendJson('GET', link, null);
  expect(status).toBe(200);
  return body;
}

/** Submits and approves a job, and waits until it has ended. */
async function runJob(
  { api }: Place,
  user: TestUser,
  country: string,
  items: readonly VariantSoldItem[],
) {
  const jobId = await submitItems(api, user, country, items);
  await api.operator('ApproveJob', { job_id: jobId });
  return { jobId, ...(await watchJob(api, user, jobId, workMs)) };
}

/** Defines the cases of variant sold with approval and without working hours. */
export function variantSoldCases(at: () => Place): void {
  test('a job is submitted, approved, and merged into a file in submission order', async () => {
    const { api, deployment } = at();
    const user = await api.createUser(5_000);
    const items = itemsOf(110, gone, droppedOnce, slow);
    // Includes failed items in the middle, and a duplicate.
    items.splice(55, 0, { item_id: '30000000802', shop_id: shop }, items[3]!);
    const submitted = await api.post(user, variantSold.submit, { country: 'id', items });
    expect(submitted.status).toBe(202);
    const jobId = submitted.body.job_id;
    expect(submitted.body).toEqual({
      job_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      status: 'awaiting_approval',
      cost: 1_150,
      refunded: 0,
      total_items: 115,
      total_batches: 3,
    });

    const waiting = await api.get(user, variantSold.retrieve(jobId));
    expect(waiting.body).toMatchObject({
      job_id: jobId,
      status: 'awaiting_approval',
      job_status: 'pending',
      progress: '0/3 batches complete',
    });
    expect(waiting.body.batches).toHaveLength(3);
    for (const batch of waiting.body.batches) {
      expect(batch).toEqual({ batch_id: expect.any(String), country: 'id', status: 'PENDING' });
    }
    expect((await api.get(user, variantSold.download(jobId))).body).toEqual({
      job_id: jobId,
      status: 'awaiting_approval',
      total_items: 115,
      success_count: 0,
      failed_count: 0,
      download_url: null,
    });
    expect((await api.get(user, variantSold.item(jobId, gone))).body).toEqual({
      job_id: jobId,
      item_id: gone,
      shop_id: shop,
      country: 'id',
      status: 'PENDING',
      data: null,
      error_log: null,
    });
    expect(await api.balance(user)).toBe(5_000);

    const approved = await api.operator('ApproveJob', { job_id: jobId });
    expect(approved.job).toMatchObject({ jobId, status: 'processing', cost: 1_150 });
    expect(await api.balance(user)).toBe(3_850);

    const { retrieve, download } = await watchJob(api, user, jobId, workMs);
    // Every batch has successful items, so failed ones appear only in the counts.
    expect(retrieve).toMatchObject({
      status: 'completed',
      job_status: 'completed',
      progress: '3/3 batches complete',
    });
    expect(download).toMatchObject({ status: 'completed', success_count: 113, failed_count: 2 });

    expect(download.download_url).toContain(`full_${jobId}.json`);
    const merged = await records(download.download_url);
    expect(merged.map(({ itemId }) => itemId)).toEqual(items.map(({ item_id: id }) => id));
    for (const record of merged) {
      const failed = [gone, '30000000802'].includes(record.itemId);
      expect(record).toMatchObject({ shopId: shop, country: 'id' });
      if (failed) {
        expect(Object.keys(record)).toEqual(['itemId', 'shopId', 'country', 'error']);
        expect(record.error).not.toBe('');
      } else
        expect(record).toMatchObject({
          collected_at: expect.any(Number),
          models: expect.any(Array),
        });
    }
    expect(merged[3]!.models).toEqual(merged[56]!.models);

    const parts = await Promise.all(
      retrieve.batches.map(({ download_url: link }: { download_url: string }) => records(link)),
    );
    expect(parts.map(({ length }) => length)).toEqual([50, 50, 15]);
    expect(parts.flat()).toEqual(merged);

    const found = await api.get(user, variantSold.item(jobId, items[0]!.item_id));
    expect(found.body).toEqual({
      job_id: jobId,
      item_id: items[0]!.item_id,
      shop_id: shop,
      country: 'id',
      status: 'SUCCESS',
      data: merged[0],
      error_log: null,
    });
    const missed = await api.get(user, variantSold.item(jobId, gone));
    expect(missed.body).toMatchObject({
      status: 'FAILED',
      data: null,
      error_log: expect.stringMatching(/./),
    });
    expect(missed.body.error_log).toBe(merged.find(({ itemId }) => itemId === gone)!.error);

    // The refunds precede the file.
    expect(await api.balance(user)).toBe(3_870);
    const entries = await api.ledger(user);
    expect(entries.map(({ key, amount }) => [key.replace(/^grant:.*/, 'grant'), amount])).toEqual([
      [`refund:${jobId}`, 20],
      [`charge:${jobId}`, -1_150],
      ['grant', 5_000],
    ]);
    expect(await api.operatorJobs('GetJob', { job_id: jobId })).toMatchObject({
      status: 'completed',
      success: 113,
      failed: 2,
      refunded: 20,
    });
    expect(await deployment.audit()).toMatchObject({ code: 0, problems: [] });
  });

  test('accepts paths without /v1 and a country per item', async () => {
    const place = at();
    const { api } = place;
    const user = await api.createUser(100);
    const items = itemsOf(2).map((item) => ({ ...item, country: 'tw' }));
    const submitted = await api.post(user, '/mkta/variant_sold_v1/submit', { items });
    expect([submitted.status, submitted.body.total_items]).toEqual([202, 2]);
    const jobId = submitted.body.job_id;
    await api.operator('ApproveJob', { job_id: jobId });
    await watchJob(api, user, jobId, workMs);
    // Links are signed for every response.
    const bare = (body: object) =>
      JSON.parse(JSON.stringify(body).replaceAll(/\?expires=[^"]*/g, ''));
    const paths = [
      variantSold.retrieve(jobId),
      variantSold.download(jobId),
      variantSold.item(jobId, items[1]!.item_id),
    ];
    for (const path of paths) {
      const [guide, reference] = await Promise.all([
        api.get(user, path),
        api.get(user, path.replace('/v1', '')),
      ]);
      expect([guide.status, reference.status]).toEqual([200, 200]);
      expect(bare(reference.body)).toEqual(bare(guide.body));
    }
  });

  test('accepts integer ids, and a top-level country together with equal ones on items', async () => {
    const { api } = at();
    const user = await api.createUser(100);
    const [id] = plainIds(1);
    const { status, body } = await api.post(user, variantSold.submit, {
      country: 'br',
      items: [
        { item_id: id, shop_id: 77, country: 'br', colour: 'unknown fields are nobody’s business' },
      ],
    });
    expect([status, body.cost]).toEqual([202, 10]);
    const item = await api.get(user, variantSold.item(body.job_id, String(id)));
    expect(item.body).toMatchObject({ item_id: String(id), shop_id: '77', country: 'br' });
  });

  test('a rejected job costs nothing', async () => {
    const { api } = at();
    const user = await api.createUser(1_000);
    const jobId = await submitItems(api, user, 'sg', itemsOf(60));
    const { job } = await api.operator('RejectJob', { job_id: jobId, reason: 'Too much of it.' });
    expect(job).toMatchObject({ status: 'rejected', failed: 60, reason: 'Too much of it.' });

    const { body } = await api.get(user, variantSold.retrieve(jobId));
    expect(body).toMatchObject({
      status: 'rejected',
      job_status: 'failed',
      progress: '2/2 batches complete',
      batches: [{ status: 'FAILED' }, { status: 'FAILED' }],
    });
    expect((await api.get(user, variantSold.download(jobId))).body).toEqual({
      job_id: jobId,
      status: 'rejected',
      total_items: 60,
      success_count: 0,
      failed_count: 60,
      download_url: null,
    });
    const item = await api.get(user, variantSold.item(jobId, String(plainIds(1)[0])));
    expect(item.body).toMatchObject({
      status: 'FAILED',
      error_log: expect.stringContaining('Too much of it.'),
    });
    expect(await api.balance(user)).toBe(1_000);
    expect(await api.ledger(user)).toHaveLength(1);
    for (const method of ['ApproveJob', 'RejectJob']) {
      const { status, body } = await api.tryOperator(method, { job_id: jobId });
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'failed_precondition' });
    }
  });

  test('a job without successful items fails, is refunded, and has no file', async () => {
    const place = at();
    const { api } = place;
    const user = await api.createUser(100);
    const items = [gone, '30000000802', '30000001801'].map((id) => ({
      item_id: id,
      shop_id: shop,
    }));
    const { retrieve, download } = await runJob(place, user, 'th', items);
    expect(retrieve).toMatchObject({
      status: 'failed',
      job_status: 'failed',
      batches: [{ status: 'FAILED' }],
    });
    expect(retrieve.batches[0]).not.toHaveProperty('download_url');
    expect(download).toMatchObject({ status: 'failed', failed_count: 3, download_url: null });
    // The refund follows the last unit, and no response shows when.
    const whole = async () => ((await api.balance(user)) === 100 ? true : undefined);
    await until('the credits are refunded', whole, { withinMs: 15_000 });
  });

  test('a submission that exceeds the balance returns 402 with the quota and creates no job', async () => {
    const { api } = at();
    const user = await api.createUser(95);
    const { status, body } = await api.post(user, variantSold.submit, {
      country: 'sg',
      items: itemsOf(10),
    });
    expect(status).toBe(402);
    expect(body).toMatchObject({
      detail: expect.any(String),
      required: 100,
      current: 95,
      shortfall: 5,
    });
    expect((await api.operatorJobs('ListJobs', { user_id: user.id })).jobs ?? []).toEqual([]);
    expect(await api.balance(user)).toBe(95);
  });

  test('an approval that exceeds the balance is refused with the shortfall, and the job stays pending', async () => {
    const { api } = at();
    const user = await api.createUser(100);
    const [first, second] = [
      await submitItems(api, user, 'my', itemsOf(8)),
      await submitItems(api, user, 'my', itemsOf(8)),
    ];
    await api.operator('ApproveJob', { job_id: first });
    const refused = await api.tryOperator('ApproveJob', { job_id: second });
    expect(refused).toMatchObject({ status: 400, body: { code: 'failed_precondition' } });
    expect(refused.body.details[0].debug.quota).toEqual({
      required: '80',
      current: '20',
      shortfall: '60',
    });
    expect(refused.body.message).toContain('60');
    expect((await api.get(user, variantSold.retrieve(second))).body.status).toBe(
      'awaiting_approval',
    );
    expect(await api.balance(user)).toBe(20);

    await api.operator('GrantCredits', { user_id: user.id, amount: 60, note: 'topped up' });
    await api.operator('ApproveJob', { job_id: second });
    await watchJob(api, user, first, workMs);
    await watchJob(api, user, second, workMs);
    expect(await api.balance(user)).toBe(0);
  });

  test('returns 404 to other users, under another kind, and for an unknown job', async () => {
    const { api } = at();
    const [owner, other] = [await api.createUser(100), await api.createUser(100)];
    const jobId = await submitItems(api, owner, 'ph', itemsOf(1));
    const never = newId();
    const item = String(plainIds(1)[0]);
    const paths = (id: string) => [
      variantSold.retrieve(id),
      variantSold.download(id),
      variantSold.item(id, item),
    ];
    const wrong: [TestUser, string][] = [
      ...paths(jobId).map((path): [TestUser, string] => [other, path]),
      ...paths(never).map((path): [TestUser, string] => [owner, path]),
      [owner, `/v1/mkta/search-items/retrieve/${jobId}`],
      [owner, `/v1/mktb/pdp/bulk/retrieve/${jobId}`],
      [owner, variantSold.item(jobId, '1')],
    ];
    for (const [user, path] of wrong) {
      const { status, body } = await api.get(user, path);
      expect([path, status, body]).toMatchObject([path, 404, { detail: expect.any(String) }]);
    }
    for (const path of paths('not-a-uuid')) {
      const { status, body } = await api.get(owner, path);
      expect([status, body.detail[0].loc]).toEqual([422, ['path', 'job_id']]);
    }
    for (const path of paths(jobId)) expect((await api.get(null, path)).status).toBe(401);
    expect((await api.get(owner, variantSold.retrieve(jobId.toUpperCase()))).status).toBe(200);
  });

  test('a link works without a key and with ranges, and is refused if any part was changed', async () => {
    const place = at();
    const user = await place.api.createUser(100);
    const { jobId, download } = await runJob(place, user, 'vn', itemsOf(2));
    const link = new URL(download.download_url);
    const whole = Buffer.from(await (await fetch(link)).arrayBuffer());
    const part = await fetch(link, { headers: { range: 'bytes=10-29' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([
      206,
      `bytes 10-29/${whole.length}`,
    ]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(10, 30));
    const rest = await fetch(link, { headers: { range: `bytes=-${whole.length - 30}` } });
    const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
    expect(
      digest(Buffer.concat([whole.subarray(0, 30), Buffer.from(await rest.arrayBuffer())])),
    ).toBe(digest(whole));

    const changes: ((url: URL) => void)[] = [
      (url) => url.searchParams.set('expires', '4000000000'),
      (url) => url.searchParams.set('signature', 'A'.repeat(43)),
      (url) => url.searchParams.delete('signature'),
      (url) => {
        url.pathname = url.pathname.replaceAll(jobId, newId());
      },
    ];
    for (const change of changes) {
      const changed = new URL(link);
      change(changed);
      const { status, body } = await sendJson('GET', changed.href, null);
      expect([changed.href, status, body]).toMatchObject([
        changed.href,
        403,
        { detail: expect.any(String) },
      ]);
    }
  });

  test('submits with the same idempotency key create one job, and one with another body is refused', async () => {
    const { api } = at();
    const user = await api.createUser(1_000);
    const body = { country: 'sg', items: itemsOf(3) };
    const headers = { 'idempotency-key': 'order-1' };
    const responses = await Promise.all(
      Array.from({ length: 6 }, () => api.post(user, variantSold.submit, body, headers)),
    );
    // Submissions during the first one are refused and retried.
    const [accepted, others] = [202, 409].map((code) =>
      responses.filter(({ status }) => status === code),
    );
    expect(accepted!.length + others!.length).toBe(6);
    expect(accepted!.length).toBeGreaterThan(0);
    const again = await api.post(user, variantSold.submit, body, headers);
    for (const { body: response } of accepted!) expect(response).toEqual(again.body);
    expect((await api.operatorJobs('ListJobs', { user_id: user.id })).jobs).toHaveLength(1);

    const another = await api.post(
      user,
      variantSold.submit,
      { ...body, items: itemsOf(4) },
      headers,
    );
    expect([another.status, another.body]).toMatchObject([
      409,
      { detail: expect.stringContaining('order-1') },
    ]);
    const stranger = await api.createUser(1_000);
    const own = await api.post(stranger, variantSold.submit, body, headers);
    expect([own.status, own.body.job_id === again.body.job_id]).toEqual([202, false]);
  });
}

/**
 * Defines the cases outside working hours, when kinds with working hours are not dispatched.
 * Returns the waiting job.
 */
export function closedHoursCases(
  at: () => Place,
  waits: (job: { user: TestUser; jobId: string }) => void,
): void {
  test('a job approved outside working hours is processing, with every batch pending', async () => {
    const { api } = at();
    const user = await api.createUser(1_000);
    const jobId = await submitItems(api, user, 'sg', itemsOf(60));
    const { job } = await api.operator('ApproveJob', { job_id: jobId });
    expect(job).toMatchObject({
      status: 'processing',
      waitingFor: expect.stringMatching(/^working hours, next try 20\d\d-/),
    });
    expect(await api.balance(user)).toBe(400);
    // A job of a kind without working hours ends meanwhile, so the waiting job had time to start.
    const task = await api.post(user, '/v1/mkta/get_pc/submit', {
      region: 'sg',
      item_id: String(plainIds(1)[0]),
      shop_id: shop,
    });
    const path = `/v1/mkta/get_pc/retrieve/${task.body.task_id}`;
    await expect
      .poll(async () => (await api.get(user, path)).body.status, { timeout: workMs })
      .toBe('completed');
    expect((await api.get(user, variantSold.retrieve(jobId))).body).toMatchObject({
      status: 'processing',
      job_status: 'pending',
      progress: '0/2 batches complete',
      batches: [{ status: 'PENDING' }, { status: 'PENDING' }],
    });
    waits({ user, jobId });
  });
}

/** Defines the cases without approval, in which a submission is charged and starts immediately. */
export function approvalOffCases(at: () => Place): void {
  test('a submission is charged and starts immediately, once per idempotency key', async () => {
    const { api } = at();
    const user = await api.createUser(1_000);
    const body = { country: 'id', items: itemsOf(59, gone) };
    const headers = { 'idempotency-key': newId() };
    const submitted = await api.post(user, variantSold.submit, body, headers);
    expect([submitted.status, submitted.body]).toEqual([
      202,
      {
        job_id: expect.any(String),
        status: 'initializing',
        cost: 600,
        refunded: 0,
        total_items: 60,
        total_batches: 2,
      },
    ]);
    expect((await api.post(user, variantSold.submit, body, headers)).body).toEqual(submitted.body);
    const { download } = await watchJob(api, user, submitted.body.job_id, workMs);
    expect(download).toMatchObject({ status: 'completed', success_count: 59, failed_count: 1 });
    const entries = await api.ledger(user);
    expect(entries.map(({ type, amount }) => [type, amount])).toEqual([
      ['refund', 10],
      ['charge', -600],
      ['grant', 1_000],
    ]);
    expect(await api.balance(user)).toBe(410);
  });

  test('concurrent submissions never spend more than the balance', async () => {
    const { api } = at();
    const user = await api.createUser(100);
    const responses = await Promise.all(
      Array.from({ length: 8 }, () =>
        api.post(user, variantSold.submit, { country: 'ph', items: itemsOf(3) }),
      ),
    );
    const accepted = responses.filter(({ status }) => status === 202);
    expect(responses.map(({ status }) => status).sort()).toEqual([
      202, 202, 202, 402, 402, 402, 402, 402,
    ]);
    for (const { body } of accepted) await watchJob(api, user, body.job_id, workMs);
    expect(await api.balance(user)).toBe(10);
  });
}
