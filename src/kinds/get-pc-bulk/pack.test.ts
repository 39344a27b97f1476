import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import { csvField } from '../../base/csv.ts';
import type { Outcome, Unit } from '../../store/batches.ts';
import { aJob } from '../../store/conformance/samples.ts';
import { jobFile } from './index.ts';

const unit: Unit = { key: '2', input: { shop_id: '1', item_id: '2' } };
const done: Outcome = { status: 'SUCCESS', attempt: 1, readAt: 0 };
const failed: Outcome = {
  status: 'FAILED',
  code: 'page_not_found',
  message: 'There is no item 2, "gone"\nfor good',
};
const page = { collected_at: 1, data: { item: { title: 'Lamp, 27" “öä”\r\nsecond line' } } };
const payload = JSON.stringify(page);

function fileOf(format: 'csv' | 'jsonl') {
  const job = aJob({ number: 7, params: { resultFormat: format } });
  const row = (outcome: Outcome, record: string) =>
    jobFile.row(unit, outcome, { job, region: 'sg' })!.join(record);
  const record = jobFile.encoding(job) === 'csv' ? csvField(payload) : payload;
  const text = [jobFile.head(job), row(done, record), row(failed, ''), jobFile.tail(job)].join(
    jobFile.separator,
  );
  return { name: jobFile.name(job), type: jobFile.contentType(job), text };
}

test('writes CSV with one row per submitted row and its page as one field', () => {
  const { name, type, text } = fileOf('csv');
  expect([name, type]).toEqual(['get_pc_bulk_7.csv', 'text/csv; charset=utf-8']);
  const [header, first, second, ...more] = parse(text, { record_delimiter: '\r\n' }) as string[][];
  expect(more).toEqual([]);
  expect(header).toEqual(['region', 'shop_id', 'item_id', 'status', 'error', 'result']);
  expect(first!.slice(0, 5)).toEqual(['sg', '1', '2', 'SUCCESS', '']);
  expect(JSON.parse(first![5]!)).toEqual(page);
  expect(second).toEqual(['sg', '1', '2', 'FAILED', 'There is no item 2, "gone"\nfor good', '']);
});

test('escapes errors that a spreadsheet would evaluate', () => {
  const job = aJob({ number: 7, params: { resultFormat: 'csv' } });
  const outcome: Outcome = { ...failed, message: '=HYPERLINK("http://x");=1' };
  const text = jobFile.row(unit, outcome, { job, region: 'sg' })!.join('');
  expect((parse(text, { record_delimiter: '\r\n' }) as string[][])[0]![4]).toBe(
    '\'=HYPERLINK("http://x");\'=1',
  );
});

test('writes JSON Lines with one line per row and its page', () => {
  const { name, type, text } = fileOf('jsonl');
  expect([name, type]).toEqual(['get_pc_bulk_7.jsonl', 'application/x-ndjson']);
  const lines = text.split('\n');
  expect(lines.pop()).toBe('');
  const known = { region: 'sg', shop_id: '1', item_id: '2' };
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { ...known, status: 'SUCCESS', error: null, response: page },
    { ...known, status: 'FAILED', error: 'There is no item 2, "gone"\nfor good', response: null },
  ]);
});
