import { describe, expect, test } from 'vitest';
import { findJobType } from '../../../src/contract/job-types.ts';
import { type Draft, emptyDraft, sharedTexts } from '../ui/request/draft.ts';
import { readRequestShape } from '../ui/request/fields.ts';
import { parseList } from '../ui/request/table.ts';
import { bodyOf, linesOf, locateUnit, readerOptions } from './list-request.ts';

const jobType = findJobType({ market: 'mkte', kind: 'pdp_bulk' })!;
const shape = readRequestShape(jobType.method.input);
const list = shape.list!;

/** Returns the lines of a draft, and the body of the form that starts with it. */
function openForm(draft: Draft) {
  const text = linesOf(shape, list, draft);
  const parsed = parseList(text, jobType, list, readerOptions(shape, list));
  const body = bodyOf(shape, sharedTexts(shape, draft), parsed);
  return { text, body: body === null ? null : JSON.parse(body) };
}

describe('linesOf()', () => {
  test.each([
    ['of one country', ['de', 'de'], 'B0GLN01001\nB0GLN01002'],
    ['of several countries', ['de', 'uk'], 'B0GLN01001, de\nB0GLN01002, uk'],
  ])('keeps the units %s', (_name, countries, text) => {
    const units = countries.map((country, index) => ({ asin: `B0GLN0100${index + 1}`, country }));
    const form = openForm({ ...emptyDraft, units });
    expect(form.text).toBe(text);
    expect(form.body).toEqual({ items: units });
  });

  test('returns the texts of units without fields', () => {
    const urls = readRequestShape(
      findJobType({ market: 'mkta', kind: 'search_items' })!.method.input,
    );
    const units = ['https://a.example/1,2', 'https://a.example/2'];
    expect(linesOf(urls, urls.list!, { ...emptyDraft, units })).toBe(units.join('\n'));
  });
});

test('locateUnit() names the line of a unit', () => {
  const parsed = parseList('\nB0GLN01001\n\nB0GLN01002\n', jobType, list, {
    fills: { country: '' },
    order: ['asin'],
  });
  expect(locateUnit('items.1.asin', list, parsed)).toBe('Line 4');
  expect(locateUnit('items.2.asin', list, parsed)).toBe('items.2.asin');
  expect(locateUnit('country', list, parsed)).toBe('country');
});
