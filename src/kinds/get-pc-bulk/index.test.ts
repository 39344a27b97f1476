import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { SubmitGetPcBulkRequestSchema } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { mkta } from '../../markets/mkta/index.ts';
import { aJob } from '../../store/conformance/samples.ts';
import { getPcBulk } from './index.ts';

const tools = { link: async () => 'a link', itemToken: () => '' };
const file = Buffer.from('region,shop_id,item_id\nsg,1,2\nsg,1,3\nmy,1,2\nsg,1,4\n');
const unit = (id: string) => ({ key: id, input: { shop_id: '1', item_id: id } });

test('plans rows in the order of the file and groups adjacent rows of a region', async () => {
  const request = create(SubmitGetPcBulkRequestSchema, { file });
  expect(await getPcBulk.plan(request, SubmitGetPcBulkRequestSchema, mkta)).toEqual({
    groups: [
      { region: 'sg', units: [unit('2'), unit('3')] },
      { region: 'my', units: [unit('2')] },
      { region: 'sg', units: [unit('4')] },
    ],
    region: '',
    params: { rescrape: false, resultFormat: 'csv' },
  });
});

test('stores the requested format and rescrape', async () => {
  const request = create(SubmitGetPcBulkRequestSchema, {
    file,
    rescrape: true,
    resultFormat: 'jsonl',
  });
  const { params } = await getPcBulk.plan(request, SubmitGetPcBulkRequestSchema, mkta);
  expect(params).toEqual({ rescrape: true, resultFormat: 'jsonl' });
});

test('serves a recent page unless a rescrape is requested, under the same key as get_pc', () => {
  const recent = getPcBulk.recent!;
  expect(recent.key(unit('2'), 'sg')).toBe('sg/1/2');
  expect(recent.serves(aJob({ params: { rescrape: false } }))).toBe(true);
  expect(recent.serves(aJob({ params: { rescrape: true } }))).toBe(false);
});

test('responses identify the task by its number', async () => {
  const job = aJob({
    number: 9,
    cost: 32,
    totalUnits: 4,
    params: { rescrape: false, resultFormat: 'csv' },
  });
  expect(getPcBulk.submitted({ job, ...tools })).toEqual({
    taskId: 9,
    status: 'processing',
    total: 4,
    cost: 32,
    resultFormat: 'csv',
    rescrape: false,
  });
  const counts = {
    units: { total: 4, success: 1, failed: 3 },
    batches: { total: 3, success: 1, failed: 2 },
  };
  const ended = aJob({
    number: 9,
    state: 'terminated',
    refunded: 24,
    finishedAt: 1,
    totalUnits: 4,
  });
  expect(await getPcBulk.views.retrieve!.show({ job: ended, counts, ...tools })).toMatchObject({
    taskId: 9,
    status: 'terminated',
    refunded: 24,
    pending: 0,
    progress: 1,
  });
  expect(getPcBulk.listed!([aJob({ number: 9 }), aJob({ number: 3 })])).toEqual({ tasks: [9, 3] });
});

test('the response to a submission mentions refunds', () => {
  const job = aJob({ number: 9, refunded: 8 });
  expect(getPcBulk.submitted({ job, ...tools })).toMatchObject({ taskId: 9, refunded: 8 });
});

test('only a terminated task has the status terminated', async () => {
  const counts = {
    units: { total: 1, success: 1, failed: 0 },
    batches: { total: 1, success: 1, failed: 0 },
  };
  const job = aJob({ number: 9, state: 'completed', finishedAt: 1 });
  expect(await getPcBulk.views.retrieve!.show({ job, counts, ...tools })).toMatchObject({
    status: 'completed',
  });
});

test('a task has one file for the whole job', () => {
  expect(Object.keys(getPcBulk.files)).toEqual(['job']);
});
