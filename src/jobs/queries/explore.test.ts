import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contextWith } from '../../../test/support/jobs/context.ts';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ExactObject } from '../../formats/json-text.ts';
import type { PictureSize } from '../../markets/market.ts';
import type { Batch, Outcome, Segment } from '../../store/batches.ts';
import { aBatch, aJob, aSuccess, units } from '../../store/conformance/samples.ts';
import type { Job } from '../../store/documents.ts';
import { createExplorer, type EntryQuery } from './explore.ts';
import { itemValues, recordLinks } from './item-values.ts';
import { hasRecord } from './rows.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture();
});
afterEach(() => fixture.close());

const blocked: Outcome = { status: 'FAILED', code: 'page_blocked', message: 'The site refused.' };
const prices = [30, null, 10, 'failed', 20, 'pending', 40, 'failed'] as const;
const titles = ['Lamp', 'Bell', 'Big lamp', '', 'Cup', '', 'Bell', ''];

/**
 * Creates a job with two units per batch: records with a price, failed units, and an outstanding
 * one.
 */
async function createJob(fields: Partial<Job> = {}): Promise<Job> {
  const job = aJob({
    kind: 'variant_sold',
    totalUnits: 8,
    totalBatches: 4,
    state: 'completed',
    finishedAt: 1,
    ...fields,
  });
  const batches: Batch[] = [];
  for (let seq = 0; seq < 4; seq++) {
    const outcomes: Record<number, Outcome> = {};
    const places: Segment['records'] = {};
    let text = '';
    for (const at of [0, 1]) {
      const price = prices[2 * seq + at]!;
      if (price === 'pending') continue;
      outcomes[at] = price === 'failed' ? blocked : aSuccess();
      if (price === 'failed') continue;
      const record: JsonObject = {
        itemId: `${seq}${at}`,
        title: titles[2 * seq + at]!,
        currency: 'SGD',
        models: [{ modelId: '1', price, stock: 2 }],
      };
      const json = JSON.stringify(record);
      places[at] = [text.length, json.length, crc32(json)];
      text += json;
    }
    const path = `${job.id}/segment-${seq}`;
    const { sha256 } = await fixture.context.blobs.write(
      path,
      'application/json',
      (async function* () {
        yield text;
      })(),
      () => 1,
    );
    const all = Object.values(outcomes);
    batches.push(
      aBatch(job, seq, units(2, `${seq}/`), {
        outcomes,
        success: all.filter(({ status }) => status === 'SUCCESS').length,
        failed: all.filter(({ status }) => status === 'FAILED').length,
        state: 'done',
        segments: [{ path, bytes: 0, sha256, encoding: 'plain', records: places, body: null }],
      }),
    );
  }
  await fixture.context.store.jobs.create(job, batches);
  return job;
}

/** Counts the files that are read from now on. Returns the function that returns the count. */
function countReads(): () => number {
  let reads = 0;
  const { blobs } = fixture.context;
  const read: typeof blobs.read = (...parameters) => {
    reads += 1;
    return blobs.read(...parameters);
  };
  fixture.context.blobs = { ...blobs, read };
  return () => reads;
}

const any: EntryQuery = { filter: [], search: '', sort: '', status: '', limit: 100, after: '' };

/** Reads all pages of a query, and returns the indexes of the units of each page. */
async function pagesOf(
  job: Job,
  query: Partial<EntryQuery>,
  explorer = createExplorer(fixture.context),
) {
  const pages: number[][] = [];
  let after = '';
  do {
    const { items, next } = await explorer.list(job, { ...any, ...query, after });
    pages.push(items.map(({ unit }) => unit.index));
    after = next ?? '';
  } while (after !== '');
  return pages;
}

describe('records()', () => {
  const recordIndexes = async (job: Job, query: Partial<EntryQuery>) => {
    const explorer = createExplorer(fixture.context, { sorted: 2, unsorted: 2 });
    const entries = await Array.fromAsync(explorer.records(job, { ...any, ...query }));
    return entries.map(({ unit }) => unit.index);
  };

  test('yields unsorted records in one pass, which the limits of a list do not apply to', async () => {
    const job = await createJob();
    expect(await recordIndexes(job, {})).toEqual([0, 1, 2, 4, 6]);
    expect(await recordIndexes(job, { filter: ['unit_index>0'] })).toEqual([1, 2, 4, 6]);
  });

  test('refuses to sort more records than are kept in memory', async () => {
    const job = await createJob();
    await expect(recordIndexes(job, { sort: 'title' })).rejects.toMatchObject({ code: 'invalid' });
  });
});

describe('list()', () => {
  test('returns records and failed units in the order submitted, page by page', async () => {
    const job = await createJob();
    expect(await pagesOf(job, { limit: 3 })).toEqual([[0, 1, 2], [3, 4, 6], [7]]);
    expect(await pagesOf(job, { limit: 2, status: 'FAILED' })).toEqual([[3, 7]]);
    expect(await pagesOf(job, { limit: 2, status: 'SUCCESS' })).toEqual([[0, 1], [2, 4], [6]]);
  });

  test.each<[Partial<EntryQuery>, number[][]]>([
    [{ sort: 'item.price' }, [[2, 4, 0], [6, 1, 3], [7]]],
    [
      { sort: '-item.price', status: 'SUCCESS' },
      [
        [6, 0, 4],
        [2, 1],
      ],
    ],
    [{ sort: 'title', filter: ['title~lamp'] }, [[2, 0]]],
    [{ filter: ['item.price>=20', 'item.price<=30'] }, [[0, 4]]],
    [{ filter: ['item.price='] }, [[1]]],
    [{ filter: ['item.id=20'] }, [[4]]],
    [{ search: 'bell' }, [[1, 6]]],
    [{ search: 'refused' }, [[3, 7]]],
    [{ search: '3/1' }, [[7]]],
    [{ search: 'nothing' }, [[]]],
    [{ filter: ['unit_index>=4'] }, [[4, 6]]],
  ])('selects and sorts by %j', async (query, expected) => {
    expect(await pagesOf(await createJob(), { limit: 3, ...query })).toEqual(expected);
  });

  test('returns the number of selected entries, and the records with their values', async () => {
    const job = await createJob();
    const explorer = createExplorer(fixture.context);
    const { items, total } = await explorer.list(job, { ...any, search: 'lamp' });
    expect(total).toBe(2);
    expect(items.map(({ record }) => record)).toMatchObject([
      { title: 'Lamp' },
      { title: 'Big lamp' },
    ]);
    expect(itemValues(fixture.context, job, items.find(hasRecord)!, 'small')).toMatchObject({
      title: 'Lamp',
      price: 30,
      currency: 'SGD',
      stock: 2,
    });
    expect((await explorer.list(job, any)).total).toBeNull();
  });

  test('reads the records of an ended job once for the pages of a selection', async () => {
    const job = await createJob();
    const reads = countReads();
    const explorer = createExplorer(fixture.context);
    const query = { ...any, sort: 'item.price', limit: 1 };
    await Promise.all([explorer.list(job, query), explorer.list(job, query)]);
    const first = reads();
    await explorer.list(job, { ...query, after: '1.0' });
    expect(reads() - first).toBe(1);
    const running = { ...job, finishedAt: null };
    await explorer.list(running, query);
    expect(reads() - first).toBeGreaterThan(4);
  });

  test.each(['x', '1', 'o', 'o-1', '1.', '1.2.3', '99999999999.0'])(
    'rejects the page token %j',
    async (after) => {
      const job = await createJob();
      const explorer = createExplorer(fixture.context);
      for (const sort of ['', 'title'])
        await expect(explorer.list(job, { ...any, sort, after })).rejects.toMatchObject({
          problems: [{ loc: ['body', 'page_token'] }],
        });
    },
  );

  test('refuses a query that finds more than is kept in memory, and counts only what it finds', async () => {
    const job = await createJob();
    const explorer = createExplorer(fixture.context, { sorted: 3, unsorted: 4 });
    const problemOf = (query: Partial<EntryQuery>) =>
      explorer.list(job, { ...any, ...query }).then(
        ({ total }) => total,
        ({ problems }) => problems[0].loc,
      );
    expect(await problemOf({ sort: 'title' })).toEqual(['query', 'sort']);
    expect(await problemOf({ filter: ['unit_index<9'] })).toEqual(['query', 'filter']);
    expect(await problemOf({ sort: 'title', filter: ['unit_index<1'] })).toBe(1);
  });

  test('returns one unit, or one entry of it', async () => {
    const job = await createJob();
    expect(await pagesOf(job, { unit: 4 })).toEqual([[4]]);
    expect(await pagesOf(job, { unit: 3, position: 0 })).toEqual([[3]]);
    expect(await pagesOf(job, { unit: 4, position: 1 })).toEqual([[]]);
    expect(await pagesOf(job, { unit: 99 })).toEqual([[]]);
  });

  test('throws results_deleted for a job whose results were deleted', async () => {
    const job = { ...(await createJob()), filesDeletedAt: 1 };
    const explorer = createExplorer(fixture.context);
    await expect(explorer.list(job, any)).rejects.toMatchObject({ code: 'results_deleted' });
  });
});

describe('records()', () => {
  const titlesOf = async (job: Job, query: Partial<EntryQuery>) =>
    (await Array.fromAsync(createExplorer(fixture.context).records(job, { ...any, ...query }))).map(
      ({ record }) => record!.title,
    );

  test('yields the selected records in order, without failed units', async () => {
    const job = await createJob();
    expect(await titlesOf(job, {})).toEqual(['Lamp', 'Bell', 'Big lamp', 'Cup', 'Bell']);
    expect(await titlesOf(job, { sort: '-item.price' })).toEqual([
      'Bell',
      'Lamp',
      'Cup',
      'Big lamp',
      'Bell',
    ]);
    expect(await titlesOf(job, { search: 'refused' })).toEqual([]);
  });

  test('reads each file once if the rows are selected but not sorted', async () => {
    const job = await createJob();
    await titlesOf(job, {});
    const reads = countReads();
    await titlesOf(job, {});
    const all = reads();
    expect(await titlesOf(job, { filter: ['item.price>=30'] })).toEqual(['Lamp', 'Bell']);
    expect(await titlesOf(job, { search: 'lamp' })).toEqual(['Lamp', 'Big lamp']);
    expect(reads()).toBeLessThanOrEqual(3 * all);
  });
});

describe('itemValues()', () => {
  const entryOf = (record: ExactObject, region = 'sg') => ({
    unit: {
      index: 0,
      batchId: '',
      unit: { key: '1', input: {} },
      region,
      outcome: aSuccess(),
      status: 'SUCCESS' as const,
    },
    record,
  });
  const entry = entryOf({ title: 'Lamp', images: ['4e5dbf53cbd5034edbaa4559d0c8180b'] });

  test('returns the address of a picture that the market names by its id, but none for a test job', () => {
    const image = 'https://down-sg.img.susercontent.com/file/4e5dbf53cbd5034edbaa4559d0c8180b';
    const imageOf = (mode: Job['mode'], size: PictureSize) =>
      itemValues(fixture.context, aJob({ kind: 'variant_sold', mode }), entry, size).image;
    expect(imageOf('live', 'small')).toBe(`${image}_tn`);
    expect(imageOf('live', 'full')).toBe(image);
    expect(imageOf('test', 'small')).toBeNull();
  });

  test('returns the address of a page at the origin of its region, but none for a test job', () => {
    const addresses = new Map([['sg', 'https://site.test']]);
    const origins = new Map([
      ['mkta', { ...fixture.context.settings.origins.get('mkta')!, addresses }],
    ]);
    const context = contextWith({ ...fixture.context, settings: { origins } });
    const of = (kind: string, record: ExactObject, mode: Job['mode'] = 'live', region = 'sg') =>
      itemValues(context, aJob({ kind, mode }), entryOf(record, region), 'small').url;
    expect(of('variant_sold', { itemId: '4', shopId: '7' })).toBe('https://site.test/product/7/4');
    const page = { data: { item: { item_id: 4, shop_id: 7, url: 'https://other.test/' } } };
    expect(of('get_pc', page)).toBe('https://site.test/product/7/4');
    expect(of('variant_sold', { itemId: '4', shopId: '//evil.test' })).toBeNull();
    expect(of('variant_sold', { itemId: '4', shopId: '7' }, 'live', 'my')).toBeNull();
    expect(of('variant_sold', { itemId: '4', shopId: '7' }, 'test')).toBeNull();
  });
});

describe('recordLinks()', () => {
  test.each([
    [
      { url: 'https://s.test/p', images: ['https://i.test/1.jpg'] },
      'https://s.test/p',
      'https://i.test/1.jpg',
    ],
    [
      { image: { url: 'https://i.test/2' }, link: 'https://s.test/p' },
      'https://s.test/p',
      'https://i.test/2',
    ],
    [
      { variants: [{ url: 'https://v.test/x' }], url: 'https://s.test/p' },
      'https://s.test/p',
      null,
    ],
    [
      { url: 'javascript:alert(1)', thumbnail: 'data:image/png;base64,x', image: 'abc123' },
      null,
      null,
    ],
    [{ url: '/dp/B0', title: 'https://x.test/not-a-link' }, null, null],
  ])('resolves %j', (record, url, image) => {
    expect(recordLinks(record)).toEqual({ url, image });
  });

  test.each([
    ['/dp/B0?x=1', 'https://s.test/dp/B0?x=1'],
    ['//evil.test/dp', null],
    ['/\\evil.test', null],
    ['dp/B0', null],
    ['https://other.test/p', 'https://other.test/p'],
  ])('completes the path %s with the origin', (url, expected) => {
    expect(recordLinks({ url }, { origin: 'https://s.test' }).url).toBe(expected);
  });
});
