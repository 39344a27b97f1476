import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { SubmitGetPcRequestSchema } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { mkta } from '../../markets/mkta/index.ts';
import type { BatchState, Outcome } from '../../store/batches.ts';
import { aBatch, aFailure, aJob, aSuccess } from '../../store/conformance/samples.ts';
import type { Job } from '../../store/documents.ts';
import { getPc } from './index.ts';

const input = { item_id: '2', shop_id: '1' };
const unit = { key: '2', input };
const tools = { link: async () => '', itemToken: () => '' };

test('plans one unit in its region', async () => {
  const request = create(SubmitGetPcRequestSchema, { region: 'sg', itemId: '2', shopId: '1' });
  expect(await getPc.plan(request, SubmitGetPcRequestSchema, mkta)).toEqual({
    groups: [{ region: 'sg', units: [unit] }],
    region: 'sg',
    params: { itemId: '2', shopId: '1' },
  });
});

test('the response to a submission repeats the request', () => {
  const job = aJob({ number: 17, cost: 8, region: 'sg', params: { itemId: '2', shopId: '1' } });
  expect(getPc.submitted({ job, ...tools })).toEqual({
    taskId: 17,
    status: 'pending',
    cost: 8,
    region: 'sg',
    itemId: '2',
    shopId: '1',
  });
});

function show(
  fields: Partial<Job>,
  state: BatchState,
  outcome?: Outcome,
  payload: string | null = null,
) {
  const job = aJob({ number: 17, ...fields });
  return getPc.views.retrieve!.show({
    job,
    unit: { unit, outcome, batch: aBatch(job, 0, [unit], { state }), payload },
    ...tools,
  });
}

test.each<[Job['state'], BatchState, string]>([
  ['processing', 'waiting', 'pending'],
  ['processing', 'queued', 'pending'],
  ['processing', 'claimed', 'processing'],
  ['settling', 'done', 'processing'],
])('a task that is %s with its batch %s is %s', (state, batch, status) => {
  expect(show({ state }, batch)).toEqual({ taskId: 17, status, refunded: 0 });
});

test('a completed task has its page', () => {
  const shown = show({ state: 'completed' }, 'done', aSuccess(), '{"a":1}');
  expect(shown).toEqual({ taskId: 17, status: 'completed', refunded: 0, result: '{"a":1}' });
});

test('a cancelled task is failed and says why', () => {
  const shown = show({ state: 'terminated', refunded: 8 }, 'done', aFailure);
  expect(shown).toMatchObject({
    status: 'failed',
    refunded: 8,
    detail: expect.stringMatching(/\S/),
  });
});

test('a failed task has its refund and its error, and no page', () => {
  const shown = show({ state: 'failed', refunded: 8 }, 'done', aFailure);
  expect(shown).toEqual({
    taskId: 17,
    status: 'failed',
    refunded: 8,
    detail: 'the item is gone: “$x.y” ☃',
  });
});

test('caches pages by region, shop and item, and never serves one', () => {
  expect(getPc.recent!.key(unit, 'sg')).toBe('sg/1/2');
  expect(getPc.recent!.serves(aJob())).toBe(false);
});

test('shows the page only when completed, and the error only when failed', () => {
  expect(show({ state: 'settling' }, 'done', aSuccess(), '{"a":1}')).not.toHaveProperty('result');
  expect(show({ state: 'settling' }, 'done', aFailure)).not.toHaveProperty('detail');
  expect(show({ state: 'completed' }, 'done', aSuccess(), null)).not.toHaveProperty('result');
  expect(show({ state: 'failed' }, 'done', undefined)).not.toHaveProperty('detail');
});
