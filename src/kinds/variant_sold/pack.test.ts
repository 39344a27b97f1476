import { expect, test } from 'vitest';
import { aBatch, aFailure, aJob, aSuccess } from '../../store/contract/samples.ts';
import type { Outcome } from '../../store/documents.ts';
import { batchFile, jobFile } from './pack.ts';

const job = aJob({ region: 'sg' });

function write(rows: [Outcome, string?][]): unknown[] {
  const parts = rows.flatMap(([outcome, payload], at) => {
    const unit = { key: String(at), input: { item_id: String(at), shop_id: '7' } };
    const bytes = payload === undefined ? undefined : Buffer.from(payload);
    return jobFile.unit(unit, outcome, bytes, { job, region: 'sg', first: at === 0 })!;
  });
  const text = [jobFile.head(job), ...parts, jobFile.tail(job)]
    .map((part) => Buffer.from(part as string))
    .join('');
  return JSON.parse(text);
}

test('one array, a record per item in the order submitted, failed ones with their reason', () => {
  const failed = { itemId: '0', shopId: '7', country: 'sg', error: expect.stringContaining('“$x.y” ☃') };
  expect(write([[aFailure], [aSuccess(), '{"itemId":"1"}'], [aSuccess(), '{"itemId":"2"}']])).toEqual([
    failed,
    { itemId: '1' },
    { itemId: '2' },
  ]);
});

test('nothing makes an empty array', () => {
  expect(write([])).toEqual([]);
});

test('files are named after the job, and the batch with its attempt', () => {
  const batch = aBatch(job, 0, [], { attempt: 3 });
  expect(jobFile.name(job)).toBe(`full_${job.id}.json`);
  expect(batchFile.name(job, batch)).toBe(`batch_${batch.id}_3.json`);
});
