import { create, type JsonValue } from '@bufbuild/protobuf';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import {
  type SubmitOptions,
  SubmitOptionsSchema,
} from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { MktaService } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { findStores } from '../../../test/support/engines/stores.ts';
import { createCrashingProcess } from '../../../test/support/faults/crash.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { newId } from '../../base/id.ts';
import { Fault } from '../../contract/fault.ts';
import { kinds } from '../../kinds/list.ts';
import type { Reader, RecordReader } from '../../markets/market.ts';
import { mkta } from '../../markets/mkta/index.ts';
import type { BatchReference } from '../../store/batches.ts';
import type { Job } from '../../store/documents.ts';
import { sweep } from '../../sweep/sweep.ts';
import { type JobContext, leaseMs } from '../context.ts';
import { resolveJobTypes } from '../job-types.ts';
import { pagesOf } from '../kept-pages.ts';
import { createDifferences } from '../queries/reread-diff.ts';
import { results } from '../queries/results.ts';
import { deleteFiles } from './delete.ts';
import { reread } from './retry.ts';
import { work } from './work.ts';

const { rereadJob } = JobService.method;
const dayMs = 86_400_000;
const never = new AbortController().signal;
const credits = 10_000;

let fixture: JobFixture;
let userId: string;
let messages: BatchReference[];
afterEach(() => fixture.close());

describe.each(await findStores())('a reread on $name', ({ open }) => {
  const isOpen = open !== null;
  beforeEach(async () => {
    if (!isOpen) return;
    fixture = await openJobFixture({ approval: false }, open());
    messages = [];
    const { queue } = fixture.context;
    fixture.context.queue = { ...queue, publish: async (message) => messages.push(message) > 0 };
    userId = await fixture.createUser(credits);
  });
  const workOff = async () => {
    for (let message = messages.shift(); message; message = messages.shift())
      await work(fixture.context, message, () => {}, never);
  };
  const jobOf = async (jobId: string) => (await fixture.context.store.jobs.get(jobId))!;
  const ended = async (name: string, request: JsonValue, keepPages = '7d'): Promise<Job> => {
    const submitted = await fixture.submit(userId, name, request, undefined, { keepPages });
    await workOff();
    return fixture.waitForState(submitted.jobId, 'completed', 'partial_complete', 'failed');
  };
  const again = async (
    source: Job,
    by: { context?: JobContext; key?: string; options?: SubmitOptions; operatorId?: string } = {},
  ): Promise<string> => {
    const { context = fixture.context, key, options, operatorId = null } = by;
    const owner = { userId: source.userId, mode: 'live' as const, keyId: null };
    const submitter = { ...owner, idempotencyKey: key, options };
    const request = create(rereadJob.input, { jobId: source.id });
    const respond = async ({ id }: Job) => ({ jobId: id });
    return (await reread(context, rereadJob, request, submitter, source, operatorId, respond))
      .jobId;
  };
  const done = async (jobId: string) => {
    await workOff();
    return fixture.waitForState(jobId, 'completed', 'partial_complete', 'failed');
  };
  const linesOf = async (job: Job, provenance = false) => {
    const text = (await Array.fromAsync(results(fixture.context, job, { provenance })))
      .map(String)
      .join('');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
  };
  /** Replaces the reader of variants. */
  const useReader = (change: (reader: RecordReader) => Partial<RecordReader>) => {
    const reader = mkta.readers.variants as RecordReader;
    const readers = { ...mkta.readers, variants: { ...reader, ...change(reader) } as Reader };
    fixture.context.jobTypes = resolveJobTypes([MktaService], kinds, [{ ...mkta, readers }]);
  };

  test.runIf(isOpen)(
    'has the same units and results, half the price, and sends no request',
    async () => {
      const source = await ended('SubmitVariantSold', variantSoldRequest(60));
      const sent = fixture.requestedItems().length;
      await fixture.clock.advance(dayMs);
      const job = await done(await again(source));
      expect(fixture.requestedItems()).toHaveLength(sent);
      const { market, kind, region, params, totalUnits, totalBatches } = source;
      expect(job).toMatchObject({ market, kind, region, params, totalUnits, totalBatches, userId });
      expect(job).toMatchObject({
        state: 'completed',
        rereadOf: source.id,
        retryOf: null,
        refunded: 0,
      });
      expect(job).toMatchObject({ cost: source.cost / 2, pagesUntil: null, options: {} });
      const [first, second] = [await linesOf(source), await linesOf(job)];
      const recordsOf = (lines: { record: unknown }[]) => lines.map(({ record }) => record);
      expect(recordsOf(second)).toEqual(recordsOf(first));
      expect(new Set(second.map((line) => line.collected_at))).toEqual(
        new Set([new Date(source.finishedAt!).toISOString()]),
      );
      expect(await fixture.balance(userId)).toBe(credits - source.cost - job.cost);
      expect(await fixture.problems()).toEqual([]);
    },
  );

  test.runIf(isOpen)('reads listings again', async () => {
    const urls = ['https://mkta.sg/shop/21'];
    const source = await ended('SubmitMerchantItems', { urls });
    expect(source.counts).toMatchObject({ units: { success: 1 } });
    expect(source.counts!.pages!.kept).toBeGreaterThan(0);
    const sent = fixture.requestedItems().length;
    await fixture.clock.advance(dayMs);
    const job = await done(await again(source));
    expect(fixture.requestedItems()).toHaveLength(sent);
    const [{ file: first }] = await linesOf(source);
    const [{ file: second, collected_at: at }] = await linesOf(job);
    expect([second.items, second.sha256]).toEqual([first.items, first.sha256]);
    expect(at).toBe(new Date(source.finishedAt!).toISOString());
  });

  test.runIf(isOpen)('turns failed units into results with a corrected reader', async () => {
    useReader(({ read }) => ({
      async read(input, { region, fetch }) {
        // It fails after it has read the page.
        await read(input, { region, fetch });
        throw new Fault('page_mismatch', 'New layout.', { final: true });
      },
    }));
    const source = await ended('SubmitVariantSold', variantSoldRequest(3));
    expect(source).toMatchObject({ state: 'failed', refunded: source.cost });
    useReader(() => ({}));
    const sent = fixture.requestedItems().length;
    const job = await done(await again(source));
    expect(job).toMatchObject({
      state: 'completed',
      counts: { units: { success: 3 } },
      refunded: 0,
    });
    expect(fixture.requestedItems()).toHaveLength(sent);
  });

  test.runIf(isOpen)(
    'refunds units whose pages were not kept, which a retry then fetches',
    async () => {
      const source = await ended('SubmitVariantSold', variantSoldRequest(3));
      useReader(({ read }) => ({
        read: (input, { region, fetch }) =>
          read(input, {
            region,
            fetch: (request) => fetch({ ...request, path: `${request.path}&new=1` }),
          }),
      }));
      const job = await done(await again(source));
      expect(job).toMatchObject({ state: 'failed', refunded: job.cost });
      const [batch] = await Array.fromAsync(fixture.context.store.batches.read(job.id));
      expect(batch!.outcomes[0]).toMatchObject({ code: 'page_not_kept' });
      expect(await fixture.balance(userId)).toBe(credits - source.cost);
      // Its pages are deleted while another one runs.
      useReader(() => ({}));
      const next = await again(source);
      await deleteFiles(fixture.context, source);
      expect(await done(next)).toMatchObject({ state: 'failed', refunded: job.cost });
      expect(await fixture.problems()).toEqual([]);
    },
  );

  test.runIf(isOpen)('is refused without kept pages, and while another one runs', async () => {
    const refused = (source: Job) =>
      again(source).catch((error: Fault) => [error.code, error.message]);
    const plain = await ended('SubmitVariantSold', variantSoldRequest(1), '');
    expect(await refused(plain)).toEqual([
      'conflict',
      expect.stringContaining('option keep_pages'),
    ]);
    const source = await ended('SubmitVariantSold', variantSoldRequest(1), '1d');
    const first = await again(source);
    expect(await refused(source)).toEqual(['conflict', expect.stringContaining(first)]);
    const job = await done(first);
    expect(await refused(job)).toEqual(['conflict', expect.stringContaining(source.id)]);
    expect(await done(await again(source))).toMatchObject({ state: 'completed' });
    await fixture.clock.advance(dayMs);
    expect(await refused(await jobOf(source.id))).toEqual([
      'conflict',
      expect.stringContaining('deleted'),
    ]);
    const running = (await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(1)))
      .jobId;
    expect(await refused(await jobOf(running))).toEqual([
      'conflict',
      expect.stringContaining('not ended'),
    ]);
  });

  test.runIf(isOpen)('has the options of its call, except those of reading', async () => {
    const source = await ended('SubmitVariantSold', variantSoldRequest(1));
    for (const option of [
      { track: 'true' },
      { maxAge: '1d' },
      { keepPages: '1d' },
      { only: 'changed' },
    ]) {
      const options = create(SubmitOptionsSchema, option);
      await expect(again(source, { options })).rejects.toMatchObject({ code: 'invalid' });
    }
    const options = create(SubmitOptionsSchema, { name: 'Mended', maxCredits: 5 });
    const job = await jobOf(await again(source, { options }));
    expect(job.options).toEqual({ name: 'Mended', maxCredits: 5 });
    expect(await fixture.balance(userId)).toBe(credits - source.cost - job.cost);
  });

  test.runIf(isOpen)(
    'does not store or use results for other jobs, and is not observed as drift',
    async () => {
      const source = await ended('SubmitVariantSold', variantSoldRequest(2));
      const seen: unknown[] = [];
      fixture.context.drift = { ...fixture.context.drift, look: (...call) => seen.push(call) };
      fixture.context.store.crawls.upsert = async (pages) => void seen.push(pages);
      fixture.context.store.crawls.pick = async (where) => {
        seen.push(where);
        return null;
      };
      expect(await done(await again(source))).toMatchObject({ state: 'completed' });
      expect(seen).toEqual([]);
    },
  );

  test.runIf(isOpen)('writes the kept pages as one file, until they are deleted', async () => {
    const source = await ended('SubmitVariantSold', variantSoldRequest(60), '1d');
    const bytes = Buffer.concat(await Array.fromAsync(pagesOf(fixture.context, source)));
    expect(bytes).toHaveLength(source.counts!.pages!.bytes);
    await fixture.clock.advance(dayMs);
    await expect(Array.fromAsync(pagesOf(fixture.context, source))).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test.runIf(isOpen)('is compared with the first job, field by field', async () => {
    const differences = createDifferences();
    const { items } = variantSoldRequest(5);
    useReader(({ read }) => ({
      async read(input, place) {
        const record = await read(input, place);
        const at = items.findIndex(({ itemId }) => itemId === String(input.item_id));
        if (at === 0) throw new Fault('page_mismatch', 'New layout.', { final: true });
        if (at === 1) return { ...record, currency: null };
        return at === 4 ? { ...record, item_name: 'Old' } : record;
      },
    }));
    const source = await ended('SubmitVariantSold', variantSoldRequest(5));
    useReader(({ read }) => ({
      async read(input, place) {
        if (String(input.item_id) === items[3]!.itemId)
          throw new Fault('page_empty', 'No.', { final: true });
        return read(input, place);
      },
    }));
    const id = await again(source);
    const early = await differences(fixture.context, await jobOf(id)).catch(({ code }) => code);
    const job = await done(id);
    const found = await differences(fixture.context, job);
    expect([early, await differences(fixture.context, source).catch(({ code }) => code)]).toEqual([
      'conflict',
      'conflict',
    ]);
    expect(found).toMatchObject({ rereadOf: source.id, gained: 1, changed: 2, lost: 1, equal: 1 });
    expect(
      found.records.map(({ unitIndex, difference, fields }) => [unitIndex, difference, fields]),
    ).toEqual([
      [0, 'gained', []],
      [1, 'changed', ['currency']],
      [3, 'lost', []],
      [4, 'changed', ['other_fields']],
    ]);
    expect(found.fields.map(({ name }) => name)).toEqual(['currency', 'other_fields']);
    await deleteFiles(fixture.context, source);
    await expect(differences(fixture.context, job)).rejects.toMatchObject({
      code: 'results_deleted',
    });
  });

  test.runIf(isOpen)(
    'names the kept pages of its results, also after they were deleted',
    async () => {
      const source = await ended('SubmitVariantSold', variantSoldRequest(2), '1d');
      await fixture.clock.advance(3_600_000);
      const job = await done(await again(source));
      await fixture.clock.advance(dayMs);
      await sweep(fixture.context);
      const provenanceOf = async (of: Job) =>
        (await linesOf(of, true)).map(({ provenance }) => provenance);
      const [first] = await provenanceOf(source);
      expect(first).toEqual({
        reader: 'mkta/variants 0.0.0',
        pages: [
          {
            url: expect.stringMatching(/^http:\/\/origin\.test\/api\/v4\/pdp\/get_pc\?item_id=\d+/),
            fetched_at: new Date(source.finishedAt!).toISOString(),
            status: 200,
            sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          },
        ],
      });
      expect(await provenanceOf(job)).toEqual(await provenanceOf(source));
      const plain = await ended('SubmitVariantSold', variantSoldRequest(1), '');
      expect(await provenanceOf(plain)).toEqual([{ pages: [] }]);
    },
  );

  test.runIf(isOpen)('creates one job, whichever call the process crashes at', async () => {
    const source = await ended('SubmitVariantSold', variantSoldRequest(2));
    let before = 0;
    for (let last = 1, dead = true; dead; last += 1) {
      const victim = createCrashingProcess(fixture.context, last, 'after');
      const key = newId();
      await Promise.race([
        again(source, { key, context: victim.context }).catch(() => {}),
        victim.crashed,
      ]);
      dead = victim.isCrashed();
      await fixture.clock.advance(leaseMs + 61_000);
      await sweep(fixture.context);
      await workOff();
      await done(await again(source, { key }));
      const page = await fixture.context.store.jobs.list({ rereadOf: source.id }, { limit: 100 });
      const completed = page.items.filter(({ state }) => state === 'completed').length;
      expect(completed, `death at call ${last}, after ${victim.crashedAt()}`).toBe(before + 1);
      before = completed;
      await fixture.clock.advance(1);
    }
    expect(before).toBeGreaterThan(6);
    expect(await fixture.balance(userId)).toBe(credits - source.cost - (before * source.cost) / 2);
    expect(await fixture.problems()).toEqual([]);
  });
});
