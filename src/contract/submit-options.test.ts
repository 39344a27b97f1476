import { create, type DescMethod } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { SubmitOptionsSchema } from '../../gen/gleaner/job/v1/submit_options_pb.ts';
import { MktaService } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { validateMessage } from './problems.ts';
import { readSubmitOptions } from './read-submit-options.ts';
import { services } from './services.ts';
import {
  decodeMetadata,
  jobOptionsOf,
  retryOptionsOf,
  submitOptionFields,
  submitOptionMetadata,
  takesSubmitOptions,
  toJobName,
  writeSubmitOptions,
} from './submit-options.ts';

const read = (texts: Record<string, string>) =>
  readSubmitOptions(
    ({ name }) => texts[name],
    ({ name }) => ['query', name],
  );

test('takesSubmitOptions() is true for submits and the retry of a job', () => {
  const methods: DescMethod[] = [...MktaService.methods, ...JobService.methods];
  const names = methods.filter(takesSubmitOptions).map(({ name }) => name);
  expect(names).toContain('SubmitVariantSold');
  expect(names).toContain('RetryJob');
  expect(names.filter((name) => !/^(Submit|RetryJob$|RereadJob$)/.test(name))).toEqual([]);
});

describe('readSubmitOptions()', () => {
  test('returns no options without a text', () => {
    expect(read({})).toEqual({ options: undefined, problems: [] });
  });

  test.each(['90s', '30m', '6h', '7d', ''])('reads the max_age %j', (text) => {
    expect(read({ max_age: text })).toMatchObject({ options: { maxAge: text }, problems: [] });
  });

  test.each(['6', 'h', '0h', '6 h', '6w', '-1h', '1h30m'])('refuses the max_age %j', (text) => {
    const loc = ['query', 'max_age'];
    expect(read({ max_age: text }).problems).toMatchObject([
      { loc, type: 'string_pattern_mismatch' },
    ]);
  });

  test('reads 0 as a value', () => {
    expect(read({ max_credits: '0' })).toEqual({
      options: create(SubmitOptionsSchema, { maxCredits: 0 }),
      problems: [],
    });
  });

  test.each([
    ['', 'int_parsing'],
    ['1.5', 'int_parsing'],
    ['-1', 'greater_than_equal'],
    ['2147483648', 'less_than_equal'],
    ['1\n', 'string_pattern_mismatch'],
    ['１', 'int_parsing'],
  ])('max_credits %j is a problem: %s', (text, type) => {
    expect(read({ max_credits: text }).problems).toEqual([
      { loc: ['query', 'max_credits'], type, msg: expect.stringContaining('not ') },
    ]);
  });
});

describe('the name of a job', () => {
  test.each([
    ['Competitor prices, week 12', undefined],
    ['  Übersicht 価格 🛒 50%  ', 'Übersicht 価格 🛒 50%'],
    ['🛒'.repeat(100), undefined],
    [` ${'x'.repeat(100)} `, 'x'.repeat(100)],
  ])('is read from %j', (text, name = text) => {
    expect(read({ name: text })).toMatchObject({ options: { name }, problems: [] });
  });

  test.each([
    ['', 'string_too_short', 'String should have at least 1 character'],
    ['   ', 'string_too_short', 'String should have at least 1 character'],
    ['x'.repeat(101), 'string_too_long', 'String should have at most 100 characters'],
    [
      'a\u0000b',
      'string_pattern_mismatch',
      'Input should have no control characters, not "a\\u0000b"',
    ],
    ['a\n', 'string_pattern_mismatch', 'Input should have no control characters, not "a\\n"'],
    ['\u009b31m', 'string_pattern_mismatch', expect.stringContaining('no control characters')],
  ])('is not %j: %s', (text, type, msg) => {
    expect(read({ name: text }).problems).toEqual([{ loc: ['query', 'name'], type, msg }]);
  });

  test('is validated in messages and metadata alike, and trimmed', () => {
    const problemsOf = (name: string) =>
      validateMessage(SubmitOptionsSchema, create(SubmitOptionsSchema, { name }));
    for (const name of ['', ' \u00a0 ', 'a\u0007', '\n', 'x'.repeat(101)])
      expect(problemsOf(name), JSON.stringify(name)).toMatchObject([{ loc: ['body', 'name'] }]);
    expect(problemsOf(' Übersicht ')).toEqual([]);
    expect(jobOptionsOf(create(SubmitOptionsSchema, { name: ' Übersicht ' }))).toEqual({
      name: 'Übersicht',
    });
  });

  test.each(['Übersicht 価格 🛒', '50% off', '100%25', 'a+b&c=d', '%', '\ud800'])(
    'round-trips through metadata: %j',
    (name) => {
      const header = new Headers(writeSubmitOptions({ name }));
      expect(decodeMetadata(header.get('gleaner-name')!)).toBe(name.toWellFormed());
    },
  );

  test('is returned unchanged from metadata if it is not percent-encoded UTF-8', () => {
    for (const text of ['50% off', '%zz', '%ff', 'x%']) expect(decodeMetadata(text)).toBe(text);
  });
});

test('toJobName() shortens a text, and leaves out control characters', () => {
  expect(toJobName(' Nightly\r\nprices ')).toBe('Nightly prices');
  expect(toJobName('🛒'.repeat(101))).toBe('🛒'.repeat(100));
  expect(toJobName('\n \t')).toBeUndefined();
});

test('writeSubmitOptions() writes metadata that readSubmitOptions() reads', () => {
  expect(writeSubmitOptions(undefined)).toEqual({});
  expect(writeSubmitOptions({})).toEqual({});
  const header = new Headers(writeSubmitOptions({ maxCredits: 0 }));
  const { options } = readSubmitOptions(
    (field) => header.get(submitOptionMetadata(field)),
    () => [],
  );
  expect(options).toEqual(create(SubmitOptionsSchema, { maxCredits: 0 }));
});

test('no option shares its name with a field of a request that accepts it', () => {
  const inputs = services
    .flatMap(({ methods }) => methods.filter(takesSubmitOptions))
    .map(({ input }) => input);
  const options = submitOptionFields.map(({ name }) => name);
  expect(inputs.length).toBeGreaterThan(10);
  const clashes = inputs.flatMap(({ fields }) =>
    fields.filter(({ name }) => options.includes(name)),
  );
  expect(clashes.map(String)).toEqual([]);
});

test('a job keeps the options that are set', () => {
  expect(jobOptionsOf(undefined)).toEqual({});
  expect(jobOptionsOf(create(SubmitOptionsSchema, {}))).toEqual({});
  expect(jobOptionsOf(create(SubmitOptionsSchema, { maxCredits: 5 }))).toEqual({ maxCredits: 5 });
});

test('a retry has the maximum cost of its own call, and the other options of the job', () => {
  const source = { maxCredits: 5, maxAge: '6h', name: 'Weekly' };
  expect(retryOptionsOf(source, undefined)).toEqual({ maxAge: '6h', name: 'Weekly' });
  expect(retryOptionsOf(source, create(SubmitOptionsSchema, { name: 'Again' }))).toMatchObject({
    name: 'Again',
  });
  expect(retryOptionsOf({ maxCredits: 5 }, create(SubmitOptionsSchema, { maxCredits: 7 }))).toEqual(
    {
      maxCredits: 7,
    },
  );
});
