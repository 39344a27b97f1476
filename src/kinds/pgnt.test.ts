import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { SubmitSearchItemsRequestSchema } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { createTestMarket } from '../../test/support/pages/market.ts';
import type { Fault } from '../contract/fault.ts';
import type { Outcome } from '../store/batches.ts';
import { aBatch, aFailure, aJob, aSuccess } from '../store/conformance/samples.ts';
import type { Job } from '../store/documents.ts';
import { pgntKind } from './pgnt.ts';

const kind = pgntKind({
  name: 'search_items',
  page: 'search',
  files: {},
  resultFields: (page) => page,
});
const market = createTestMarket({
  regions: ['sg'],
  parseUrl: (page, url) => {
    if (!url.startsWith('x:')) throw new Error(`${url} is no address of a ${page}`);
    return {
      input: { path: url.slice(2) },
      region: 'sg',
      type: url.includes('cat') ? 'category' : 'search',
    };
  },
});
const plan = (...urls: string[]) =>
  kind.plan(
    create(SubmitSearchItemsRequestSchema, { urls }),
    SubmitSearchItemsRequestSchema,
    market,
  );

test('plans one unit per URL including duplicates; the first URL names the job', async () => {
  const unit = (path: string) => ({ region: 'sg', units: [{ key: `x:${path}`, input: { path } }] });
  expect(await plan('x:cat', 'x:a', 'x:a')).toEqual({
    groups: [unit('cat'), unit('a'), unit('a')],
    region: '',
    params: { taskType: 'category' },
  });
});

test('rejects every URL that the market cannot parse', async () => {
  const fault = await (async () => plan('x:a', 'b', 'x:c', 'd'))().catch((error: Fault) => error);
  expect((fault as Fault).code).toBe('invalid');
  expect((fault as Fault).problems).toEqual(
    [1, 3].map((index) => ({
      loc: ['body', 'urls', index],
      msg: `${'abcd'[index]} is no address of a search`,
      type: 'url_parsing',
    })),
  );
});

function show(fields: Partial<Job>, outcomes: (Outcome | undefined)[]) {
  const job = aJob({ market: 'mktx', params: { taskType: 'search' }, ...fields });
  const units = outcomes.map((outcome, at) => {
    const unit = { key: `x:${at}`, input: {} };
    return { unit, outcome, batch: aBatch(job, at, [unit]), index: 0 };
  });
  const shown = kind.views.retrieve!.show({
    job,
    units,
    link: async () => '',
    itemToken: ({ seq }) => `token${seq}`,
  });
  return { job, shown };
}

test('retrieve shows each URL’s status, and its result path or error', () => {
  const { job, shown } = show({ state: 'processing' }, [aSuccess(), aFailure, undefined]);
  expect(shown).toEqual({
    jobId: job.id,
    taskType: 'search',
    status: 'processing',
    progress: '2/3 URLs complete',
    items: [
      {
        url: 'x:0',
        status: 'SUCCESS',
        downloadUrl: `/v1/mktx/pgnt/jobs/${job.id}/items/token0/data`,
      },
      { url: 'x:1', status: 'FAILED', error: expect.any(String) },
      { url: 'x:2', status: 'PENDING' },
    ],
  });
});

test.each<[Partial<Job>, (Outcome | undefined)[], string]>([
  [{ state: 'awaiting_approval' }, [undefined], 'awaiting_approval'],
  // Refunds precede the terminal status.
  [{ state: 'settling' }, [aSuccess(), aFailure], 'processing'],
  [{ state: 'completed', finishedAt: 1 }, [aSuccess()], 'completed'],
  [{ state: 'partial_complete', finishedAt: 1 }, [aSuccess(), aFailure], 'partial_complete'],
  [{ state: 'failed', finishedAt: 1 }, [aFailure], 'failed'],
  [{ state: 'rejecting' }, [undefined], 'rejected'],
])('a job that is %j with %j is %s', (fields, outcomes, status) => {
  expect(show(fields, outcomes).shown).toMatchObject({ status });
});

test('the response to a submission has the cost, and refunds only if there are any', () => {
  const job = aJob({
    state: 'awaiting_approval',
    cost: 12,
    totalUnits: 2,
    params: { taskType: 'search' },
  });
  const tools = { link: async () => '', itemToken: () => '' };
  const response = { jobId: job.id, taskType: 'search', cost: 12, totalUrls: 2 };
  expect(kind.submitted({ job, ...tools })).toEqual({ ...response, status: 'awaiting_approval' });
  const unqueued = { ...job, state: 'processing', refunded: 6 } as const;
  expect(kind.submitted({ job: unqueued, ...tools })).toEqual({
    ...response,
    status: 'initializing',
    refunded: 6,
  });
});
