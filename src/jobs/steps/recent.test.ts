import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import { Fault } from '../../contract/fault.ts';
import { hasOutstanding } from '../../store/batch-store.ts';
import { findJobByNumber } from '../../store/jobs.ts';
import { sweep } from '../../sweep/sweep.ts';

const hour = 3_600_000;
let fixture: JobFixture;
let userId: string;
beforeEach(async () => {
  fixture = await openJobFixture();
  userId = await fixture.createUser(10_000);
  await fixture.startWorker();
  return () => fixture.close();
});
afterEach(async () => expect(await fixture.problems()).toEqual([]));

interface Line {
  item_id: string;
  status: string;
  response: { collected_at: number } | null;
}

/**
 * Reads these rows in one bulk task, with `everyMs` passing repeatedly. Returns its lines and the
 * items requested from the origin meanwhile.
 */
async function crawl(
  rows: string[],
  rescrape: boolean,
  everyMs = 0,
): Promise<{ lines: Line[]; asked: string[] }> {
  const before = fixture.requestedItems().length;
  const file = Buffer.from(`region,shop_id,item_id\n${rows.join('\n')}\n`).toString('base64');
  const { taskId } = await fixture.submit(userId, 'SubmitGetPcBulk', {
    file,
    rescrape,
    resultFormat: 'jsonl',
  });
  const { id } = (await fixture.context.store.jobs.find({ number: taskId }))[0]!;
  await fixture.eventually('the task ends', async () => {
    await fixture.clock.advance(everyMs);
    return (await fixture.context.store.jobs.get(id))!.finishedAt !== null;
  });
  const job = await fixture.waitForState(id, 'completed', 'partial_complete', 'failed');
  const lines = (await text(await fixture.context.blobs.read(job.file!.path))).trim().split('\n');
  return {
    lines: lines.map((line) => JSON.parse(line) as Line),
    asked: fixture.requestedItems().slice(before),
  };
}

const collected = ({ lines }: { lines: Line[] }) =>
  lines.map(({ response }) => response?.collected_at);
const seconds = () => Math.floor(fixture.clock.now() / 1000);

describe('a task that accepts recent pages', () => {
  test('gets the recent page with the time of its crawl, without a request', async () => {
    const time = seconds();
    const first = await crawl(['sg,7,20101', 'sg,7,20104'], false);
    expect(first.asked).toEqual(['20101', '20104']);
    await fixture.clock.advance(23 * hour);
    const second = await crawl(['sg,7,20104', 'sg,7,20101', 'sg,7,20103'], false);
    expect(second.asked).toEqual(['20103']);
    expect(collected(second).slice(0, 2)).toEqual([time, time]);
    expect(second.lines.slice(0, 2).map(({ response }) => response)).toEqual(
      first.lines.map(({ response }) => response).reverse(),
    );
  });

  test('gets a new page if the recent one is too old, or of another region or shop', async () => {
    await crawl(['sg,7,20101'], false);
    await fixture.clock.advance(23 * hour);
    const other = await crawl(['my,7,20101', 'sg,8,20101'], false);
    expect(other.asked).toEqual(['20101', '20101']);
    await fixture.clock.advance(2 * hour);
    const time = seconds();
    const late = await crawl(['sg,7,20101'], false);
    expect(late.asked).toEqual(['20101']);
    expect(collected(late)[0]).toBeGreaterThanOrEqual(time);
  });

  test('gets the page of a single task, too', async () => {
    const { taskId } = await fixture.submit(userId, 'SubmitGetPc', {
      region: 'sg',
      itemId: '20101',
      shopId: '7',
    });
    await fixture.waitForState(
      (await fixture.context.store.jobs.find({ number: taskId }))[0]!.id,
      'completed',
    );
    expect((await crawl(['sg,7,20101'], false)).asked).toEqual([]);
  });
});

test('a task that requests new pages gets them, and they are reused later', async () => {
  await crawl(['sg,7,20101'], false);
  await fixture.clock.advance(2 * hour);
  const time = seconds();
  expect((await crawl(['sg,7,20101'], true)).asked).toEqual(['20101']);
  await fixture.clock.advance(hour);
  const served = await crawl(['sg,7,20101'], false);
  expect(served.asked).toEqual([]);
  expect(collected(served)[0]).toBeGreaterThanOrEqual(time);
  expect(collected(served)[0]).toBeLessThan(time + 600);
});

describe('a recent page is not reused', () => {
  test.each([
    ['an unknown item', '20800'],
    ['a removed item', '20801'],
    ['another item', '20803'],
    ['a refusal', '20807'],
  ])('if it is %s', async (_name, id) => {
    // Refused pages are retried after a back-off.
    const tries = () => crawl([`sg,7,${id}`, 'sg,7,20101'], false, 30_000);
    expect((await tries()).lines[0]?.status).toBe('FAILED');
    const again = await tries();
    expect(again.lines[0]?.status).toBe('FAILED');
    expect(again.asked).toContain(id);
    expect(again.asked).not.toContain('20101');
  });

  test.each([
    ['hides its prices from a visitor without a login', '20702'],
    ['lacks most of its parts', '20703'],
  ])('if it %s', async (_name, id) => {
    expect((await crawl([`sg,7,${id}`], false)).lines[0]?.status).toBe('SUCCESS');
    expect((await crawl([`sg,7,${id}`], false)).asked).toEqual([id]);
  });

  test('does not replace a complete one', async () => {
    await crawl(['sg,7,20101'], false);
    fixture.wrapFetch((fetch) => async (request) => {
      const response = await fetch(request);
      const body = response.body
        .toString()
        .replace('"removed_fields":null', '"removed_fields":["product_price"]');
      return { ...response, body: Buffer.from(body) };
    });
    expect((await crawl(['sg,7,20101'], true)).asked).toEqual(['20101']);
    const served = await crawl(['sg,7,20101'], false);
    expect(served.asked).toEqual([]);
    expect(JSON.stringify(served.lines)).not.toContain('removed_fields":[');
  });

  test('if it is larger than the limit of stored pages', async () => {
    fixture.wrapFetch((fetch) => async (request) => {
      const response = await fetch(request);
      const body = response.body
        .toString()
        .replace('"bff_meta":null', `"bff_meta":"${'x'.repeat(1_100_000)}"`);
      return { ...response, body: Buffer.from(body) };
    });
    await crawl(['sg,7,20101'], false);
    expect((await crawl(['sg,7,20101'], false)).asked).toEqual(['20101']);
  });
});

test('a single task ends before its page is stored, and without it if that fails', async () => {
  const { store } = fixture.context;
  const outstanding: boolean[] = [];
  let taskId = 0;
  store.crawls.upsert = async () => {
    const job = await findJobByNumber(fixture.context.store, taskId);
    outstanding.push(await hasOutstanding(store, job!.id));
    throw new Fault('unavailable', 'The store is away.');
  };
  ({ taskId } = await fixture.submit(userId, 'SubmitGetPc', {
    region: 'sg',
    shopId: '7',
    itemId: '20101',
  }));
  const { id } = (await findJobByNumber(fixture.context.store, taskId))!;
  await fixture.waitForState(id, 'completed');
  expect(outstanding).toEqual([false]);
});

test('old pages are deleted by the sweep', async () => {
  await crawl(['sg,7,20101'], false);
  const key = 'mkta/sg/7/20101';
  expect(
    await fixture.context.store.crawls.pick({ key, at: { atLeast: 0 } }, ['at', 'body']),
  ).not.toBeNull();
  await fixture.clock.advance(23 * hour);
  await sweep(fixture.context);
  expect(
    await fixture.context.store.crawls.pick({ key, at: { atLeast: 0 } }, ['at', 'body']),
  ).not.toBeNull();
  await fixture.clock.advance(2 * hour);
  await sweep(fixture.context);
  expect(
    await fixture.context.store.crawls.pick({ key, at: { atLeast: 0 } }, ['at', 'body']),
  ).toBeNull();
});
