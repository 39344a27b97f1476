import { expect, test } from 'vitest';
import { aFailure, aJob, aSuccess } from '../../store/contract/samples.ts';
import { jobFile } from './pack.ts';

const identity = [
  { name: 'item_id', from: 'id', numbered: false },
  { name: 'formattedId', from: 'formattedId', numbered: false },
];
const job = aJob({ market: 'mktc', params: { identity } });
const place = { job, region: '' };
const unit = { key: 'p1', input: { formattedId: 'p1', sku: 's1' } };

test('a line holds what identifies the item and its page, byte for byte; null what was not submitted', () => {
  const line = jobFile.row(unit, aSuccess(), place)!.join('{"price": 1.10, "name":"ラ"}');
  expect(line).toBe('{"item_id":null,"formattedId":"p1","response":{"price": 1.10, "name":"ラ"}}\n');
});

test('a failed item has no line', () => {
  expect(jobFile.row(unit, aFailure, place)).toBeNull();
});

test('the file is named after its marketplace and job', () => {
  expect(jobFile.name(job)).toBe(`mktc_pdp_${job.id}.jsonl.gz`);
  expect(jobFile.gzip).toBe(true);
});

test('the file has nothing before its first line and after its last', () => {
  expect([jobFile.head(job), jobFile.tail(job)]).toEqual(['', '']);
});
