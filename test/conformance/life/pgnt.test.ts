import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readItemToken, writeItemToken } from '../../../src/links/links.ts';
import { deriveLinkSecrets } from '../../../src/links/secrets.ts';
import type { TestUser } from '../../support/service/api.ts';
import {
  type AnyJson,
  download,
  ended,
  expectCredits,
  expectFields,
  requestCount,
  retrieve,
  type Submitted,
  submit,
  useLife,
} from './life.ts';

const secret = 'a secret of 32 letters that the tests know too';
const life = useLife({ GLEANER_LINK_SECRETS: secret });
const searches = '/v1/mkta/search-items';
const shops = '/v1/mkta/merchant-items';
const search = (digits: string) => `https://mkta.example.com.my/search?keyword=lamp%20${digits}`;
const shop = (digits: string) => `https://mkta.example.ph/shop/7400${digits}`;

async function approved(user: TestUser, path: string, urls: string[]): Promise<Submitted> {
  const job = await submit(life(), user, path, { urls });
  await life().api.operator('ApproveJob', { job_id: job.id });
  return job;
}

/** Runs a job of URLs and returns the last response with the results of successful URLs. */
async function collect(
  user: TestUser,
  path: string,
  urls: string[],
): Promise<{ shown: AnyJson; results: AnyJson[] }> {
  const shown = await ended(life(), user, await approved(user, path, urls));
  const results = [];
  for (const { download_url: url } of shown.items)
    results.push(url === undefined ? null : JSON.parse((await download(life(), url, user)).text));
  return { shown, results };
}

describe('searches and categories', () => {
  test('await approval, are charged at once, and contain all pages of each URL', async () => {
    const user = await life().api.createUser(100);
    const urls = ['000', '001', '002', '003', '004', '006'].map(search);
    const job = await submit(life(), user, searches, { urls });
    expect(job.response).toMatchObject({
      task_type: 'search',
      status: 'awaiting_approval',
      cost: 36,
      total_urls: 6,
    });
    await expectCredits(life(), user, { granted: 100, charged: 36, refunded: 0 });
    const waiting = await retrieve(life(), user, job);
    expect(waiting).toMatchObject({ status: 'awaiting_approval', progress: '0/6 URLs complete' });
    expect(waiting.items).toEqual(urls.map((url) => ({ url, status: 'PENDING' })));

    await life().api.operator('ApproveJob', { job_id: job.id });
    const shown = await ended(life(), user, job);
    expect(shown).toMatchObject({ status: 'completed', progress: '6/6 URLs complete' });
    const counts = [0, 130, 130, 130, 176, 7];
    for (const [at, { url, download_url: path }] of shown.items.entries()) {
      const { type, text } = await download(life(), path, user);
      expect(type).toBe('application/json');
      const result = JSON.parse(text);
      expectFields('mkta search_items', [result]);
      expect(result).toMatchObject({ success: true, url, total_items: counts[at] });
      expect(result.items).toHaveLength(counts[at]!);
      expect(new Set(result.items.map(({ itemid }: { itemid: number }) => itemid)).size).toBe(
        counts[at],
      );
      for (const { item_rating: rating } of result.items)
        if (rating !== null) expect(rating.rating_count).toHaveLength(6);
    }
    await expectCredits(life(), user, { granted: 100, charged: 36, refunded: 0 });
  });

  test('are requested from the origin of their region', async () => {
    const user = await life().api.createUser(100);
    const hosts = {
      id: 'co.id',
      sg: 'sg',
      th: 'co.th',
      ph: 'ph',
      my: 'com.my',
      vn: 'vn',
      tw: 'tw',
      br: 'com.br',
    };
    const urls = Object.values(hosts).map(
      (suffix) => `https://mkta.example.${suffix}/Lamps-cat.1.74006`,
    );
    const regions = Object.keys(hosts).map(
      (region) => `mkta/${region} /api/v4/search/search_items`,
    );
    const before = regions.map((place) => requestCount(life(), place));
    const { shown, results } = await collect(user, searches, urls);
    expect(shown).toMatchObject({ task_type: 'category', status: 'completed' });
    expectFields('mkta search_items', results);
    regions.forEach((place, at) => {
      expect(requestCount(life(), place), place).toBeGreaterThan(before[at]!);
    });
  });

  test('refund failed URLs: one of three, then both', async () => {
    const user = await life().api.createUser(18);
    const { shown } = await collect(user, searches, [search('006'), search('800'), search('006')]);
    expect(shown.status).toBe('partial_complete');
    expect(shown.items.map(({ status }: { status: string }) => status)).toEqual([
      'SUCCESS',
      'FAILED',
      'SUCCESS',
    ]);
    expect(shown.items[1]).toEqual({
      url: search('800'),
      status: 'FAILED',
      error: expect.stringMatching(/\S/),
    });
    await expectCredits(life(), user, { granted: 18, charged: 18, refunded: 6 });

    const other = await life().api.createUser(12);
    const { shown: failed } = await collect(other, searches, [search('800'), search('800')]);
    expect(failed).toMatchObject({ status: 'failed', progress: '2/2 URLs complete' });
    await expectCredits(life(), other, { granted: 12, charged: 12, refunded: 12 });
  });

  test('are fully refunded once when rejected', async () => {
    const user = await life().api.createUser(12);
    const job = await submit(life(), user, searches, { urls: [search('006'), search('007')] });
    await life().api.operator('RejectJob', { job_id: job.id, reason: 'Not today.' });
    const again = await life().api.tryOperator('ApproveJob', { job_id: job.id });
    expect(again.status).not.toBe(200);
    const shown = await retrieve(life(), user, job);
    expect(shown).toMatchObject({ status: 'rejected', progress: '2/2 URLs complete' });
    for (const item of shown.items)
      expect(item).toEqual({
        url: expect.any(String),
        status: 'FAILED',
        error: expect.stringMatching(/Not today\./),
      });
    await expectCredits(life(), user, { granted: 12, charged: 12, refunded: 12 });
  });
});

describe('shops', () => {
  test('contain all pages of active and of sold-out items', async () => {
    const user = await life().api.createUser(100);
    const urls = ['000', '001', '002', '003', '004', '005'].map(shop);
    const { shown, results } = await collect(user, shops, urls);
    expect(shown).toMatchObject({
      task_type: 'merchant',
      status: 'completed',
      progress: '6/6 URLs complete',
    });
    expectFields('mkta merchant_items', results);
    const counts = [
      [0, 0],
      [130, 0],
      [0, 130],
      [130, 20],
      [130, 20],
      [130, 20],
    ] as const;
    results.forEach((result, at) => {
      const [active, soldOut] = counts[at]!;
      const { page_url, page_type, page_params, items, rcmd_items } = result.shops[urls[at]!];
      expect([page_url, page_type, page_params]).toEqual([
        urls[at],
        'shop',
        { shop_id: `7400${'000'.slice(0, 2)}${at}` },
      ]);
      expect(rcmd_items.items).toHaveLength(active);
      expect(items).toMatchObject({
        total_fetched: soldOut,
        total_count: soldOut,
        has_more: false,
      });
      expect(items.items).toHaveLength(soldOut);
      const ids = [...items.items, ...rcmd_items.items].map(({ itemid }) => itemid);
      expect(new Set(ids).size).toBe(active + soldOut);
    });
    await expectCredits(life(), user, { granted: 100, charged: 36, refunded: 0 });
  });
});

describe('the data path', () => {
  let user: TestUser;
  let job: Submitted;
  let path: string;

  test('requires the key of the job’s owner', async () => {
    user = await life().api.createUser(100);
    job = await approved(user, searches, [search('006'), search('800')]);
    const shown = await ended(life(), user, job);
    path = shown.items[0].download_url;
    expect(path).toMatch(new RegExp(`^/v1/mkta/pgnt/jobs/${job.id}/items/[\\w-]+/data$`));
    const status = async (who: TestUser | null, at = path) =>
      (await life().api.get(who, at)).status;
    expect(await status(user)).toBe(200);
    expect(await status(user, path.slice(3))).toBe(200);
    expect(await status(null)).toBe(401);
    expect(await status(await life().api.createUser(0))).toBe(404);
  });

  test('refuses tokens of other jobs, and returns 404 for a unit without a result', async () => {
    const token = path.split('/').at(-2)!;
    const at = (other: string) => life().api.get(user, path.replace(token, other));
    for (const wrong of ['x', token.slice(1), `${token}A`, `${token.slice(0, -1)}%00`]) {
      const { status, body } = await at(wrong);
      expect([wrong, status, body]).toMatchObject([wrong, 400, { detail: expect.any(String) }]);
    }
    const secrets = deriveLinkSecrets([secret], { now: () => Date.now() });
    const { batchId } = readItemToken(secrets, job.id, token)!;
    const { status, body } = await at(writeItemToken(secrets, job.id, { batchId, index: 1 }));
    expect([status, body]).toMatchObject([404, { detail: expect.stringMatching(/no result/) }]);
  });

  test('returns 502 if the result cannot be read', async () => {
    await rm(join(life().deployment.settings.GLEANER_DATA_DIR!, 'results', job.id), {
      recursive: true,
    });
    const { status, body } = await life().api.get(user, path);
    expect([status, body]).toMatchObject([
      502,
      { detail: expect.stringMatching(/could not be fetched/) },
    ]);
  });
});
