import { expect, test } from 'vitest';
import type { Outcome } from '../../store/batches.ts';
import { aBatch, aFailure, aJob, aSuccess } from '../../store/conformance/samples.ts';
import { batchFile, jobFile } from './index.ts';

const job = aJob({ region: 'sg' });

function write(rows: [Outcome, string?][]): unknown[] {
  const written = rows.map(([outcome, record = ''], at) => {
    const unit = { key: String(at), input: { item_id: String(at), shop_id: '7' } };
    return jobFile.row(unit, outcome, { job, region: 'sg' })!.join(record);
  });
  return JSON.parse(`${jobFile.head(job)}${written.join(jobFile.separator)}${jobFile.tail(job)}`);
}

test('writes one record per item in the order submitted; failed items have their error', () => {
  const failed = {
    itemId: '0',
    shopId: '7',
    country: 'sg',
    error: expect.stringContaining('“$x.y” ☃'),
  };
  expect(
    write([[aFailure], [aSuccess(), '{"itemId":"1"}'], [aSuccess(), '{"itemId":"2"}']]),
  ).toEqual([failed, { itemId: '1' }, { itemId: '2' }]);
});

test('writes an empty array without items', () => {
  expect(write([])).toEqual([]);
});

test('names files after the job, and batch files after the batch and attempt', () => {
  const batch = aBatch(job, 0, [], { attempt: 3 });
  expect(jobFile.name(job)).toBe(`full_${job.id}.json`);
  expect(batchFile.name(job, batch)).toBe(`batch_${batch.id}_3.json`);
});
