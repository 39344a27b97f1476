import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import type { Batch, Outcome } from '../../store/batches.ts';
import { aBatch, aFailure, aJob, aSuccess, aTime, units } from '../../store/conformance/samples.ts';
import type { Job, StoredFile } from '../../store/documents.ts';
import { replaceMethods } from '../../store/wrap.ts';
import { fileName, listFiles, results } from './results.ts';
import { type FailureFormat, failures, groupFaults, listUnits, type UnitFilter } from './units.ts';

let fixture: JobFixture;
beforeEach(async () => {
  fixture = await openJobFixture();
});
afterEach(() => fixture.close());

const blocked: Outcome = { status: 'FAILED', code: 'page_blocked', message: 'refused, "twice"' };

/** Fields of a batch with these outcomes. Null for a unit without one. */
function ended(...outcomes: (Outcome | null)[]): Partial<Batch> {
  const known = outcomes.flatMap((outcome, index) => (outcome ? [[index, outcome] as const] : []));
  return {
    outcomes: Object.fromEntries(known),
    success: known.filter(([, { status }]) => status === 'SUCCESS').length,
    failed: known.filter(([, { status }]) => status === 'FAILED').length,
    state: known.length === outcomes.length ? 'done' : 'claimed',
  };
}

/** Creates a job with one batch per entry of the fields, each of `size` units. */
async function createJob(
  size: number,
  batches: Partial<Batch>[],
  fields: Partial<Job> = {},
): Promise<Job> {
  const job = aJob({
    state: 'processing',
    totalBatches: batches.length,
    totalUnits: size * batches.length,
    ...fields,
  });
  const all = batches.map((its, seq) => aBatch(job, seq, units(size, `${seq}/`), its));
  await fixture.context.store.jobs.create(job, all);
  return job;
}

const aFile = (path: string): StoredFile => ({
  path,
  contentType: 'application/json',
  items: 3,
  bytes: 70,
  sha256: 'ab12',
});

/** Counts the batches that are read completely. */
function countReads(): () => number {
  const { store } = fixture.context;
  let read = 0;
  fixture.context.store = replaceMethods(store, {
    batches: {
      async *read(...parameters) {
        for await (const batch of store.batches.read(...parameters)) {
          read += 1;
          yield batch;
        }
      },
    },
  });
  return () => read;
}

describe('listUnits()', () => {
  const mixed = [
    ended(aSuccess(), aSuccess()),
    ended(aFailure, blocked),
    ended(aSuccess(), null),
    {},
  ];
  const list = async (
    job: Job,
    filter: UnitFilter = {},
    limit = 9,
    after: string | null = null,
  ) => {
    const page = await listUnits(fixture.context, job, filter, { limit, after });
    return { indexes: page.items.map(({ index }) => index), next: page.next };
  };

  test('returns the units in the order submitted, page by page', async () => {
    const job = await createJob(2, mixed);
    expect(await list(job)).toEqual({ indexes: [0, 1, 2, 3, 4, 5, 6, 7], next: null });
    expect(await list(job, {}, 3)).toEqual({ indexes: [0, 1, 2], next: '3.0' });
    expect(await list(job, {}, 3, '3.0')).toEqual({ indexes: [3, 4, 5], next: '6.0' });
    expect(await list(job, {}, 2, '6.0')).toEqual({ indexes: [6, 7], next: null });
    expect(await list(job, {}, 2, '')).toEqual({ indexes: [0, 1], next: '2.0' });
    expect(await list(job, {}, 2, '999999999.0')).toEqual({ indexes: [], next: null });
  });

  test.each<[UnitFilter, number[], number]>([
    [{ status: 'SUCCESS' }, [0, 1, 4], 2],
    [{ status: 'FAILED' }, [2, 3], 1],
    [{ status: 'PENDING' }, [5, 6, 7], 2],
    [{ code: 'page_blocked' }, [3], 1],
    [{ status: 'FAILED', code: 'page_not_found' }, [2], 1],
    [{ status: 'SUCCESS', code: 'page_not_found' }, [], 1],
    [{}, [0, 1, 2, 3, 4, 5, 6, 7], 4],
  ])('selects by the filter %j as %j and reads %i batches', async (filter, indexes, batches) => {
    const job = await createJob(2, mixed);
    const reads = countReads();
    expect((await list(job, filter)).indexes).toEqual(indexes);
    expect(reads()).toBe(batches);
  });

  test('reads no batch that ends before the page', async () => {
    const job = await createJob(2, mixed);
    const reads = countReads();
    expect(await list(job, {}, 9, '4.0')).toMatchObject({ indexes: [4, 5, 6, 7] });
    expect(reads()).toBe(2);
  });

  test('reports a unit with its batch, region, key, and outcome', async () => {
    const job = await createJob(2, [{}, { ...ended(null, blocked), region: 'th' }]);
    const { items } = await listUnits(fixture.context, job, {}, { limit: 9 });
    const batches = await fixture.context.store.batches.find({ jobId: job.id });
    expect(items[3]).toEqual({
      index: 3,
      batchId: batches[1]!.id,
      region: 'th',
      unit: { key: '1/1', input: { index: 1 } },
      status: 'FAILED',
      outcome: blocked,
    });
    expect(items[2]).toMatchObject({ status: 'PENDING', outcome: undefined });
  });

  test('reports every unfinished unit of a rejected job as failed', async () => {
    const job = await createJob(2, [{}], { state: 'rejecting', reason: 'No.' });
    const { items } = await listUnits(fixture.context, job, { status: 'FAILED' }, { limit: 9 });
    expect(items.map(({ outcome }) => outcome)).toEqual([
      { status: 'FAILED', code: 'rejected', message: 'The job was rejected. No.' },
      { status: 'FAILED', code: 'rejected', message: 'The job was rejected. No.' },
    ]);
  });

  test.each(['x', '-1', '1', '1.5x', 'x1.0', '1234567890.0'])(
    'refuses the page token %s',
    async (after) => {
      const job = await createJob(1, [{}]);
      await expect(list(job, {}, 9, after)).rejects.toMatchObject({
        code: 'invalid',
        problems: [{ loc: ['body', 'page_token'], type: 'value_error' }],
      });
    },
  );
});

describe('groupFaults()', () => {
  test('returns the most frequent fault first, ties by code, each with its first five units', async () => {
    const unreadable: Outcome = { status: 'FAILED', code: 'page_unreadable', message: '' };
    const job = await createJob(7, [
      ended(unreadable, aSuccess(), aFailure, blocked, aFailure, aFailure, null),
      ended(aFailure, aFailure, aFailure, aSuccess(), aSuccess(), aSuccess(), aSuccess()),
      ended(aSuccess(), aSuccess(), aSuccess(), aSuccess(), aSuccess(), aSuccess(), aSuccess()),
    ]);
    const reads = countReads();
    const groups = await groupFaults(fixture.context, job);
    expect(
      groups.map(({ examples, ...group }) => ({
        ...group,
        at: examples.map(({ index }) => index),
      })),
    ).toEqual([
      { code: 'page_not_found', units: 6, at: [2, 4, 5, 7, 8] },
      { code: 'page_blocked', units: 1, at: [3] },
      { code: 'page_unreadable', units: 1, at: [0] },
    ]);
    expect(reads()).toBe(2);
  });

  test('returns equally frequent faults by code, in any order of occurrence', async () => {
    const codes = [
      'page_timeout',
      'page_blocked',
      'page_unreadable',
      'page_empty',
      'page_not_found',
    ] as const;
    const outcomes = codes.map((code): Outcome => ({ status: 'FAILED', code, message: '' }));
    for (const order of [outcomes, outcomes.toReversed()]) {
      const groups = await groupFaults(fixture.context, await createJob(5, [ended(...order)]));
      expect(groups.map(({ code }) => code)).toEqual(codes.toSorted());
    }
  });
});

describe('failures()', () => {
  const write = async (job: Job, format: FailureFormat) =>
    (await Array.fromAsync(failures(fixture.context, job, format))).join('');

  test('writes an uncharged job without credits and refunds', async () => {
    const job = await createJob(3, [
      ended(aSuccess(), blocked, null),
      ended(aSuccess(), aSuccess(), aSuccess()),
    ]);
    const [batch] = await fixture.context.store.batches.find({ jobId: job.id });
    const reads = countReads();
    expect(await write(job, 'jsonl')).toBe(
      `${JSON.stringify({
        index: 1,
        batch_id: batch!.id,
        key: '0/1',
        region: 'id',
        input: { index: 1 },
        code: 'page_blocked',
        message: 'refused, "twice"',
        credits: 0,
        refund_entry: null,
      })}\n`,
    );
    expect(reads()).toBe(1);
    expect(await write(job, 'csv')).toBe(
      'index,batch_id,key,region,input,code,message,credits,refund_entry\r\n' +
        `1,${batch!.id},0/1,id,"{""index"":1}",page_blocked,"refused, ""twice""",0,\r\n`,
    );
  });

  test('writes no text that a spreadsheet evaluates', async () => {
    const job = await createJob(1, [ended({ ...blocked, message: '=HYPERLINK(A1);@x' })]);
    expect(await write(job, 'csv')).toContain(",'=HYPERLINK(A1);'@x,0,");
  });

  test('writes the unit price and the refund of a charged job', async () => {
    const userId = await fixture.createUser(100);
    const job = await createJob(1, [ended(blocked)], { userId, unitPrice: 7 });
    const post = (type: 'charge' | 'refund', amount: number) =>
      fixture.context.store.ledger.post({
        key: `${type}:${job.id}`,
        userId,
        amount,
        type,
        jobId: job.id,
        keyId: null,
        note: '',
        createdAt: fixture.clock.now(),
      });
    await post('charge', -7);
    expect(JSON.parse(await write(job, 'jsonl'))).toMatchObject({ credits: 7, refund_entry: null });
    await post('refund', 7);
    expect(JSON.parse(await write(job, 'jsonl'))).toMatchObject({
      credits: 7,
      refund_entry: `refund:${job.id}`,
    });
    expect(await write(job, 'csv')).toContain(`,7,refund:${job.id}\r\n`);
  });
});

describe('results()', () => {
  const lines = async (job: Job) =>
    Buffer.concat(
      (await Array.fromAsync(results(fixture.context, job))).map((chunk) => Buffer.from(chunk)),
    )
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));

  test('writes the record of each successful unit, and reads no other batch', async () => {
    const segment = async function* () {
      yield '{"a":1}{"b":2}';
    };
    const { blobs } = fixture.context;
    const file = await blobs.write('job/segment', 'application/json', segment(), () => 2);
    const segments: Batch['segments'] = [
      {
        path: 'job/segment',
        bytes: 7,
        sha256: file.sha256,
        encoding: 'plain',
        records: { 0: [0, 7, crc32('{"a":1}')], 2: [7, 7, crc32('{"b":2}')] },
        body: null,
      },
    ];
    const job = await createJob(3, [
      ended(blocked, blocked, blocked),
      { ...ended(aSuccess(), null, aSuccess()), segments },
      {},
    ]);
    const batches = await fixture.context.store.batches.find({ jobId: job.id });
    const reads = countReads();
    const shared = { batch_id: batches[1]!.id, region: 'id' };
    expect(await lines(job)).toEqual([
      { index: 3, ...shared, key: '1/0', input: { index: 0 }, record: { a: 1 } },
      { index: 5, ...shared, key: '1/2', input: { index: 2 }, record: { b: 2 } },
    ]);
    expect(reads()).toBe(1);
  });

  test('fails if the record of a successful unit is missing', async () => {
    const job = await createJob(1, [ended(aSuccess())]);
    await expect(lines(job)).rejects.toMatchObject({ code: 'results_deleted' });
  });

  test('writes a reference to the file of a unit with one', async () => {
    const job = await createJob(1, [
      ended({ ...aSuccess(), file: aFile('1/unit.json') } as Outcome),
    ]);
    const bearers: boolean[] = [];
    fixture.context.links.file = async (_job, { path }, bearer) => {
      bearers.push(bearer);
      return `https://links.test/${path}`;
    };
    expect(await lines(job)).toMatchObject([
      {
        index: 0,
        key: '0/0',
        file: {
          name: 'unit.json',
          content_type: 'application/json',
          items: 3,
          bytes: 70,
          sha256: 'ab12',
          download_url: 'https://links.test/1/unit.json',
        },
      },
    ]);
    expect(bearers).toEqual([true]);
  });
});

describe('listFiles()', () => {
  const list = async (job: Job) => {
    const linkOf = (path: string, bearer: boolean) => `${path}${bearer ? ' with a token' : ''}`;
    fixture.context.links.file = async (_job, { path }, bearer) =>
      `storage/${linkOf(path, bearer)}`;
    fixture.context.links.records = (_job, { path }, bearer) => linkOf(path, bearer);
    return (await listFiles(fixture.context, job)).map(({ file, ...rest }) => ({
      path: file.path,
      ...rest,
    }));
  };
  const documentLinks = (link: string) => ({ link: `storage/${link}`, recordsLink: link });

  test('returns the merged file and the files of batches', async () => {
    const kind = 'variant_sold';
    const batches = [ended(aSuccess()), {}, ended(aSuccess())].map((its, seq) => ({
      ...its,
      file: seq === 1 ? null : aFile(`${seq}.json`),
    }));
    const job = await createJob(1, batches, { kind, file: aFile('full.json'), finishedAt: aTime });
    const files = await list(job);
    expect(files).toEqual([
      { path: 'full.json', ...documentLinks('full.json'), scope: 'job', index: 0, key: '' },
      { path: '0.json', ...documentLinks('0.json'), scope: 'batch', index: 0, key: '' },
      { path: '2.json', ...documentLinks('2.json'), scope: 'batch', index: 2, key: '' },
    ]);
  });

  test('returns no merged file of a job that is ending', async () => {
    const batch = { ...ended(aSuccess()), file: null };
    const fields = { kind: 'variant_sold', file: aFile('full.json') };
    expect(await list(await createJob(1, [batch], { ...fields, state: 'settling' }))).toEqual([]);
  });

  test('returns the files of successful units, whose links require a token', async () => {
    const withFile = { ...aSuccess(), file: aFile('unit.json') } as Outcome;
    const job = await createJob(2, [ended(blocked, blocked), ended(aSuccess(), withFile)], {
      kind: 'merchant_items',
    });
    const reads = countReads();
    expect(await list(job)).toEqual([
      {
        path: 'unit.json',
        ...documentLinks('unit.json with a token'),
        scope: 'unit',
        index: 3,
        key: '1/1',
      },
    ]);
    expect(reads()).toBe(1);
  });

  test('returns nothing for a kind without result files', async () => {
    const withFile = {
      ...ended({ ...aSuccess(), file: aFile('unit.json') } as Outcome),
      file: aFile('0'),
    };
    expect(await list(await createJob(1, [withFile], { kind: 'get_pc' }))).toEqual([]);
  });
});

test('fileName() returns the last part of the path', () => {
  expect(fileName(aFile('job/deep/name.json'))).toBe('name.json');
  expect(fileName(aFile('name.json'))).toBe('name.json');
});
