import { create, type DescMethod } from '@bufbuild/protobuf';
import { describe, expect, test } from 'vitest';
import { JobService } from '../../gen/gleaner/job/v1/job_pb.ts';
import { SubmitOptionsSchema } from '../../gen/gleaner/job/v1/submit_options_pb.ts';
import { MktaService } from '../../gen/gleaner/mkta/v1/mkta_pb.ts';
import { readSubmitOptions } from './read-submit-options.ts';
import { services } from './services.ts';
import {
  jobOptionsOf,
  retryOptionsOf,
  submitOptionFields,
  submitOptionMetadata,
  takesSubmitOptions,
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
  expect(names.filter((name) => !/^(Submit|RetryJob$)/.test(name))).toEqual([]);
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
    expect(read({ max_age: text }).problems).toMatchObject([{ loc, type: 'string_pattern_mismatch' }]);
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
    ['１', 'string_pattern_mismatch'],
  ])('max_credits %j is a problem: %s', (text, type) => {
    expect(read({ max_credits: text }).problems).toEqual([
      { loc: ['query', 'max_credits'], type, msg: expect.stringContaining('not ') },
    ]);
  });
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

test('no option has the name of a field of a request that it goes with', () => {
  const inputs = services
    .flatMap(({ methods }) => methods.filter(takesSubmitOptions))
    .map(({ input }) => input);
  const options = submitOptionFields.map(({ name }) => name);
  expect(inputs.length).toBeGreaterThan(10);
  const clashes = inputs.flatMap(({ fields }) => fields.filter(({ name }) => options.includes(name)));
  expect(clashes.map(String)).toEqual([]);
});

test('a job keeps the options that are set', () => {
  expect(jobOptionsOf(undefined)).toEqual({});
  expect(jobOptionsOf(create(SubmitOptionsSchema, {}))).toEqual({});
  expect(jobOptionsOf(create(SubmitOptionsSchema, { maxCredits: 5 }))).toEqual({ maxCredits: 5 });
});

test('a retry has the maximum cost of its own call, and the other options of the job', () => {
  expect(retryOptionsOf({ maxCredits: 5, maxAge: '6h' }, undefined)).toEqual({ maxAge: '6h' });
  expect(retryOptionsOf({ maxCredits: 5 }, create(SubmitOptionsSchema, { maxCredits: 7 }))).toEqual({
    maxCredits: 7,
  });
});
