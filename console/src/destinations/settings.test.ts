import { create } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import {
  CreateDestinationRequestSchema,
  DestinationSchema,
} from '../../../gen/gleaner/destination/v1/destination_pb.ts';
import { RestError } from '../ui/errors/rest-error.ts';
import { addressOf, hasInput, inputProblems, settingsOf, valuesOf } from './settings.ts';

const bucket = create(DestinationSchema, {
  name: 'warehouse',
  type: 's3',
  url: 'https://s3.example.test',
  bucket: 'results',
  prefix: 'daily',
  accessKey: 'id',
  format: 'csv',
  path: '{job_id}.{ext}',
});

test('valuesOf() returns the settings of a destination without secrets', () => {
  expect(valuesOf(bucket)).toMatchObject({
    name: 'warehouse',
    bucket: 'results',
    secretKey: '',
    headers: [],
  });
});

test('settingsOf() sends the settings of the type only', () => {
  const values = {
    ...valuesOf(bucket),
    secretKey: 'secret',
    headers: [{ id: '1', name: ' X-Key', value: 'a' }],
    query: '?sig=1',
  };
  const common = {
    name: 'warehouse',
    url: 'https://s3.example.test',
    format: 'csv',
    path: '{job_id}.{ext}',
  };
  expect(settingsOf(values)).toEqual({
    ...common,
    bucket: 'results',
    region: '',
    prefix: 'daily',
    accessKey: 'id',
    secretKey: 'secret',
  });
  expect(settingsOf({ ...values, type: 'https' })).toEqual({
    ...common,
    headers: [{ name: 'X-Key', value: 'a' }],
    query: 'sig=1',
  });
});

test('the form has an input for each setting of the contract', () => {
  const paths = CreateDestinationRequestSchema.fields
    .map(({ name }) => name)
    .filter((name) => name !== 'type' && name !== 'headers');
  expect(paths.filter((path) => !hasInput('s3', path) && !hasInput('https', path))).toEqual([]);
  expect(hasInput('https', 'headers.0.value')).toBe(true);
});

test('inputProblems() returns the problems at inputs by value', () => {
  const error = new RestError(422, '422', 'invalid', [
    { loc: ['body', 'secret_key'], msg: 'Field required' },
    { loc: ['body', 'headers'], msg: 'The header Host cannot be set' },
  ]);
  expect(inputProblems('s3', error)).toEqual({ secretKey: 'Field required' });
});

test('addressOf() returns the place of the files', () => {
  expect(addressOf(bucket)).toBe('https://s3.example.test/results/daily');
  const address = create(DestinationSchema, {
    type: 'https',
    url: 'https://files.example.test/inbox/',
  });
  expect(addressOf(address)).toBe('https://files.example.test/inbox/');
});
