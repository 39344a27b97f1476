import { describe, expect, test } from 'vitest';
import { requestTextOf } from './request-text.ts';

describe('requestTextOf()', () => {
  test('returns a JSON body unchanged', async () => {
    expect(await requestTextOf('{"items": []}')).toBe('{"items": []}');
  });

  test('encodes the files of a form in base64', async () => {
    const form = new FormData();
    form.set('file', new Blob(['région\n']), 'rows.csv');
    form.set('rescrape', 'true');
    form.set('result_format', 'jsonl');
    expect(JSON.parse(await requestTextOf(form))).toEqual({
      file: Buffer.from('région\n').toString('base64'),
      rescrape: true,
      result_format: 'jsonl',
    });
  });
});
