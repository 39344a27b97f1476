import { expect, test } from 'vitest';
import { aJob } from '../../store/conformance/samples.ts';
import type { JobSnapshot } from '../kind.ts';
import { pdpBulk } from './index.ts';

const identity = [{ name: 'item_id', from: 'id', numbered: false }];
const counts = {
  units: { total: 3, success: 1, failed: 2 },
  batches: { total: 1, success: 1, failed: 0 },
};
const job = aJob({ state: 'partial_complete', finishedAt: 1, params: { identity } });
const show = (failures: NonNullable<JobSnapshot['failures']>) =>
  pdpBulk.views.retrieve!.show({
    job,
    counts,
    failures,
    link: async () => '',
    itemToken: () => '',
  });

test('retrieve lists each failed item by its identity, with the error', async () => {
  const unit = { key: '9', input: { id: '9' } };
  const shown = await show([{ unit, message: 'gone', place: 1 }]);
  expect(shown).toMatchObject({
    jobId: job.id,
    status: 'partial_complete',
    total: 3,
    success: 1,
    failed: 2,
  });
  expect(JSON.parse(shown.errors as string)).toEqual([{ item_id: '9', error: 'gone' }]);
});

test('retrieve numbers a failed item by its place in the request, from 1', async () => {
  const numbered = {
    ...job,
    params: { identity: [{ name: 'keyword', from: 'keyword', numbered: true }] },
  };
  const unit = { key: 'lamp', input: { keyword: 'lamp' } };
  const shown = await pdpBulk.views.retrieve!.show({
    job: numbered,
    counts,
    failures: [{ unit, message: 'gone', place: 4 }],
    link: async () => '',
    itemToken: () => '',
  });
  expect(JSON.parse(shown.errors as string)).toEqual([{ keyword: 'lamp_5', error: 'gone' }]);
});

test('retrieve has no errors if no item failed', async () => {
  expect(await show([])).not.toHaveProperty('errors');
});
