import { parse } from 'csv-parse/sync';
import { describe, expect, test } from 'vitest';
import { findMismatches } from '../../../src/quality/record-schema.ts';
import { resultFields } from '../../support/pages/result-fields.ts';
import { until } from '../../support/time/until.ts';
import {
  download,
  ended,
  expectCredits,
  expectFields,
  linesOf,
  requestCount,
  retrieve,
  run,
  submitRows,
  upload,
  useLife,
} from './life.ts';

const life = useLife();
const single = '/v1/mkta/get_pc';
const bulk = '/v1/mkta/get_pc_bulk';
const productPath = (region: string) => `mkta/${region} /api/v4/pdp/get_pc`;
const one = (digits: string) => ({ region: 'sg', item_id: `51000000${digits}`, shop_id: '7300' });

describe('one product page', () => {
  test('is fetched, stored, and charged', async () => {
    const user = await life().api.createUser(10);
    const before = Date.now() / 1000;
    const { result, ...others } = await run(life(), user, single, one('001'));
    expect(others).toEqual({
      task_id: expect.any(Number),
      status: 'completed',
      refunded: 0,
      detail: null,
    });
    expectFields('mkta get_pc', [result]);
    expect(result.data.item).toMatchObject({ item_id: 51_000_000_001, shop_id: 7300 });
    expect(result.data.item.models.length).toBeGreaterThan(0);
    expect(result.data.item).toHaveProperty('attributes');
    expect(result.data.item).toHaveProperty('description');
    expect(result.collected_at).toBeGreaterThanOrEqual(Math.floor(before));
    expect(result.collected_at).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
    await expectCredits(life(), user, { granted: 10, charged: 8, refunded: 0 });
  });

  test('fails with a reason and is refunded if it does not exist', async () => {
    const user = await life().api.createUser(8);
    const task = await run(life(), user, single, one('800'));
    expect(task).toEqual({
      task_id: expect.any(Number),
      status: 'failed',
      refunded: 8,
      detail: expect.stringMatching(/\S+ \S+/),
    });
    await expectCredits(life(), user, { granted: 8, charged: 8, refunded: 8 });
  });

  test('is requested again after a dropped connection', async () => {
    const user = await life().api.createUser(8);
    expect(await run(life(), user, single, one('901'))).toMatchObject({
      status: 'completed',
      refunded: 0,
    });
    await expectCredits(life(), user, { granted: 8, charged: 8, refunded: 0 });
  });
});

describe('product pages by CSV', () => {
  const rows = [
    'sg,7300,52000000001',
    'br,7300,52000000002',
    'sg,7300,52000000800',
    'sg,7300,52000000001',
  ];

  test('result in a CSV with a row per input row in order, including failed rows and duplicates', async () => {
    const user = await life().api.createUser(100);
    const job = await submitRows(life(), user, rows);
    const shown = await ended(life(), user, job);
    expect(shown).toMatchObject({
      status: 'partial_complete',
      total: 4,
      success: 3,
      failed: 1,
      refunded: 8,
    });
    const file = await download(life(), shown.download_url);
    expect([file.type, file.name]).toEqual([
      'text/csv; charset=utf-8',
      `get_pc_bulk_${job.id}.csv`,
    ]);
    const [header, ...lines] = parse(file.text) as string[][];
    expect(header).toEqual(['region', 'shop_id', 'item_id', 'status', 'error', 'result']);
    expect(lines.map((line) => line.slice(0, 3).join(','))).toEqual(rows);
    expect(lines.map(([, , , status]) => status)).toEqual([
      'SUCCESS',
      'SUCCESS',
      'FAILED',
      'SUCCESS',
    ]);
    expect(lines[2]!.slice(4)).toEqual([expect.stringMatching(/\S/), '']);
    const pages = [0, 1, 3].map((at) => JSON.parse(lines[at]![5]!));
    expectFields('mkta get_pc', pages);
    expect(pages.map(({ data }) => data.item.item_id)).toEqual([
      52_000_000_001, 52_000_000_002, 52_000_000_001,
    ]);
    await expectCredits(life(), user, { granted: 100, charged: 32, refunded: 8 });
  });

  test('result in JSON Lines on request, with every kind of page in the documented shape', async () => {
    const user = await life().api.createUser(1_000);
    const sorts = Array.from({ length: 9 }, (_, at) => `id,7300,53000000${700 + at}`);
    const shown = await ended(
      life(),
      user,
      await submitRows(life(), user, sorts, { result_format: 'jsonl' }),
    );
    expect(shown).toMatchObject({ status: 'completed', success: 9, refunded: 0 });
    const file = await download(life(), shown.download_url);
    expect([file.type, file.name]).toEqual([
      'application/x-ndjson',
      `get_pc_bulk_${shown.task_id}.jsonl`,
    ]);
    const lines = linesOf(file);
    expect(lines.map(({ response, ...row }) => row)).toEqual(
      sorts.map((row) => {
        const [region, shop_id, item_id] = row.split(',');
        return { region, shop_id, item_id, status: 'SUCCESS', error: null };
      }),
    );
    expectFields(
      'mkta get_pc',
      lines.map(({ response }) => response),
    );
  });

  test('have a file with the reasons and are fully refunded if they all fail', async () => {
    const user = await life().api.createUser(16);
    const gone = ['sg,7300,54000000800', 'sg,7300,54000000801'];
    const shown = await ended(
      life(),
      user,
      await submitRows(life(), user, gone, { result_format: 'jsonl' }),
    );
    expect(shown).toMatchObject({ status: 'failed', success: 0, failed: 2, refunded: 16 });
    const lines = linesOf(await download(life(), shown.download_url));
    expect(lines).toHaveLength(2);
    for (const line of lines)
      expect(line).toMatchObject({
        status: 'FAILED',
        error: expect.stringMatching(/\S/),
        response: null,
      });
    await expectCredits(life(), user, { granted: 16, charged: 16, refunded: 16 });
  });

  test('reuse a recent crawl of any kind unless rescrape is set', async () => {
    const [first, second] = [await life().api.createUser(100), await life().api.createUser(100)];
    const place = productPath('vn');
    const row = ['vn,7300,55000000001'];
    const pageOf = async (task: Record<string, unknown>) => {
      const [line] = linesOf(await download(life(), task.download_url as string));
      return line.response;
    };
    const crawled = await run(life(), first, single, {
      region: 'vn',
      item_id: '55000000001',
      shop_id: '7300',
    });
    const requests = requestCount(life(), place);

    const served = await ended(
      life(),
      second,
      await submitRows(life(), second, row, { result_format: 'jsonl' }),
    );
    expect(await pageOf(served)).toEqual(crawled.result);
    expect(requestCount(life(), place)).toBe(requests);

    // Timestamps have a resolution of one second: waits so that a page fetched later can be
    // distinguished.
    await until(
      'a second passes',
      () => Math.floor(Date.now() / 1000) > crawled.result.collected_at || undefined,
      {
        withinMs: 2_000,
      },
    );
    const rescrapeOptions = { result_format: 'jsonl', rescrape: true } as const;
    const fresh = await ended(
      life(),
      second,
      await submitRows(life(), second, row, rescrapeOptions),
    );
    expect(requestCount(life(), place)).toBe(requests + 1);
    const freshPage = await pageOf(fresh);
    expect(freshPage.collected_at).toBeGreaterThan(crawled.result.collected_at);

    const again = await ended(
      life(),
      second,
      await submitRows(life(), second, row, { result_format: 'jsonl' }),
    );
    expect(await pageOf(again)).toEqual(freshPage);
    expect(requestCount(life(), place)).toBe(requests + 1);
  });

  test('are listed newest first to their owner only', async () => {
    const [user, other] = [await life().api.createUser(100), await life().api.createUser(100)];
    const mine = [];
    for (const at of [1, 2, 3]) {
      mine.unshift(Number((await submitRows(life(), user, [`sg,7300,5600000000${at}`])).id));
      await submitRows(life(), other, [`sg,7300,5600000000${at}`]);
    }
    expect((await life().api.get(user, `${bulk}/tasks`)).body).toEqual({ tasks: mine });
    for (const id of mine)
      await ended(life(), user, { path: bulk, id: String(id), response: null });
    expect((await life().api.get(user, `${bulk}/tasks`)).body).toEqual({ tasks: mine });
  });

  test('keep their results and refund the rest when terminated', async () => {
    const user = await life().api.createUser(5_000);
    // Each page takes 0.3 s, with a concurrency of 16.
    const slow = Array.from(
      { length: 400 },
      (_, at) => `th,7300,57${String(at).padStart(6, '0')}900`,
    );
    const job = await submitRows(life(), user, slow, { result_format: 'jsonl' });
    await until(
      'some rows are done',
      async () => (await retrieve(life(), user, job)).success > 0 || undefined,
      {
        withinMs: 10_000,
      },
    );
    const terminated = await life().api.post(user, `${bulk}/terminate/${job.id}`, undefined);
    expect(terminated.status).toBe(200);
    const { success, failed } = terminated.body;
    expect(terminated.body).toEqual({
      task_id: Number(job.id),
      status: 'terminated',
      total: 400,
      success: expect.any(Number),
      failed: 400 - success,
      pending: 0,
      progress: 1,
      refunded: 8 * failed,
      download_url: expect.stringMatching(/^http/),
      message: null,
    });
    expect(success).toBeGreaterThan(0);
    expect(failed).toBeGreaterThan(0);
    await expectCredits(life(), user, { granted: 5_000, charged: 3_200, refunded: 8 * failed });

    const lines = linesOf(await download(life(), terminated.body.download_url));
    expect(lines.map(({ item_id }) => item_id)).toEqual(slow.map((row) => row.split(',')[2]));
    const done = lines.filter(({ status }) => status === 'SUCCESS');
    expect(done).toHaveLength(success);
    for (const { response } of done)
      expect(findMismatches(response, resultFields('mkta get_pc'))).toEqual([]);
    for (const { status, error } of lines.filter((line) => !done.includes(line)))
      expect([status, error]).toEqual(['FAILED', expect.stringMatching(/terminated/)]);

    const again = await life().api.post(user, `${bulk}/terminate/${job.id}`, undefined);
    expect([again.status, again.body]).toMatchObject([
      409,
      { detail: expect.stringMatching(/terminated/) },
    ]);
    const { download_url: _, ...shown } = await retrieve(life(), user, job);
    const { download_url: __, ...before } = terminated.body;
    expect(shown).toEqual(before);
    expect((await life().api.get(user, `${bulk}/tasks`)).body).toEqual({ tasks: [Number(job.id)] });

    // The remaining rows must no longer be requested.
    await until(
      'the workers stop',
      async () => {
        const before = requestCount(life(), productPath('th'));
        await new Promise((resolve) => setTimeout(resolve, 700));
        return requestCount(life(), productPath('th')) === before || undefined;
      },
      { withinMs: 10_000 },
    );
    expect(requestCount(life(), productPath('th'))).toBeLessThan(400);
  });

  test('are submitted once per Idempotency-Key, whatever the form boundary is', async () => {
    const user = await life().api.createUser(100);
    const csv = 'region,shop_id,item_id\nsg,7300,58000000001\n';
    const send = (text: string) => upload(life(), user, text, {}, { 'idempotency-key': 'once' });
    const first = await send(csv);
    expect(first.status).toBe(202);
    expect(await send(csv)).toEqual(first);
    expect((await send(`${csv}sg,7300,58000000002\n`)).status).toBe(409);
    await ended(life(), user, { path: bulk, id: String(first.body.task_id), response: null });
    await expectCredits(life(), user, { granted: 100, charged: 8, refunded: 0 });
  });
});
