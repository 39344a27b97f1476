import { getOption } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { SubmitOptionsSchema } from '../../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { form } from '../../../../gen/gleaner/options/v1/options_pb.ts';
import {
  optionFields,
  optionMessage,
  optionQuery,
  readHold,
  withQuery,
  writeHold,
} from './options.ts';

test('optionFields has every option with a label except the one for quotes', () => {
  const labelled = SubmitOptionsSchema.fields.filter(
    (field) => getOption(field, form).label !== '',
  );
  expect(['validate_only', ...optionFields.map(({ name }) => name)].toSorted()).toEqual(
    labelled.map(({ name }) => name).toSorted(),
  );
  expect(optionFields).toContainEqual(
    expect.objectContaining({ name: 'max_credits', type: 'integer', min: 0 }),
  );
  expect(optionFields.find(({ name }) => name === 'only')?.choices).toEqual(['changed']);
  for (const { label } of optionFields) expect(label).toMatch(/^[A-Z][A-Za-z ]+$/);
});

test('optionQuery() returns the options with a value', () => {
  expect(optionQuery({})).toBe('');
  expect(optionQuery({ max_credits: ' 100 ', hold: 'title:99', track: '' })).toBe(
    'max_credits=100&hold=title%3A99',
  );
});

test('optionQuery() returns null while an option is invalid', () => {
  expect(optionQuery({ max_credits: '-1' })).toBeNull();
  expect(optionQuery({ hold: 'title' })).toBeNull();
});

test('optionMessage() returns the options of a schedule, and undefined without any', () => {
  expect(optionMessage({ track: ' ' })).toBeUndefined();
  expect(optionMessage({ max_credits: '100', deliver_to: 'inbox' })).toMatchObject({
    maxCredits: 100,
    deliverTo: 'inbox',
  });
});

test('withQuery() joins the queries that are not empty', () => {
  expect(withQuery('/submit', '')).toBe('/submit');
  expect(withQuery('/submit', 'validate_only=true', '', 'hold=a')).toBe(
    '/submit?validate_only=true&hold=a',
  );
});

test.each([
  ['', []],
  ['price.amount:95', [{ field: 'price.amount', percent: '95' }]],
  [
    'title:99.5,images[]:1',
    [
      { field: 'title', percent: '99.5' },
      { field: 'images[]', percent: '1' },
    ],
  ],
  [':', [{ field: '', percent: '' }]],
])('readHold(%j) and writeHold() are inverse', (text, rows) => {
  expect(readHold(text)).toEqual(rows);
  expect(writeHold(rows)).toBe(text);
});
