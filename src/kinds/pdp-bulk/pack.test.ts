import { expect, test } from 'vitest';
import { aFailure, aJob, aSuccess } from '../../store/conformance/samples.ts';
import { jobFile } from './index.ts';

const identity = [
  { name: 'item_id', from: 'id', numbered: false },
  { name: 'formattedId', from: 'formattedId', numbered: false },
];
const job = aJob({ market: 'mktc', params: { identity } });
const place = { job, region: '' };
const unit = { key: 'p1', input: { formattedId: 'p1', sku: 's1' } };

test('writes an item’s identity and the bytes of its page; absent fields are null', () => {
  const line = jobFile.row(unit, aSuccess(), place)!.join('{"price": 1.10, "name":"ラ"}');
  expect(line).toBe(
    '{"item_id":null,"formattedId":"p1","response":{"price": 1.10, "name":"ラ"}}\n',
  );
});

test('writes no line for a failed item', () => {
  expect(jobFile.row(unit, aFailure, place)).toBeNull();
});

test('names the file after its marketplace and job', () => {
  expect(jobFile.name(job)).toBe(`mktc_pdp_${job.id}.jsonl.gz`);
  expect(jobFile.gzip).toBe(true);
});

test('writes nothing before the first line and after the last', () => {
  expect([jobFile.head(job), jobFile.tail(job)]).toEqual(['', '']);
});
