import { expect, test } from 'vitest';
import { readItemToken, writeItemToken } from './links.ts';
import { deriveLinkSecrets } from './secrets.ts';

const secretsOf = (...secrets: string[]) => deriveLinkSecrets(secrets, { now: () => 0 });
const secrets = secretsOf('a-secret');
const job = 'd9428888-122b-41e1-b85c-61dfaf4eaf64';
const place = { batchId: '6ba7b810-9dad-41d1-80b4-00c04fd430c8', index: 7 };

test('readItemToken() returns the unit of a token', () => {
  expect(readItemToken(secrets, job, writeItemToken(secrets, job, place))).toEqual(place);
});

test('readItemToken() accepts a token of a previous secret', () => {
  const token = writeItemToken(secretsOf('older'), job, place);
  expect(readItemToken(secretsOf('newer', 'older'), job, token)).toEqual(place);
});

test('readItemToken() rejects a token of another job or secret, or a modified one', () => {
  const token = writeItemToken(secrets, job, place);
  expect(readItemToken(secrets, job.replace('d', 'e'), token)).toBeNull();
  expect(readItemToken(secretsOf('other'), job, token)).toBeNull();
  for (const wrong of [
    '',
    'x',
    token.slice(1),
    `${token}A`,
    token.replace(/.$/, '~'),
    '../../etc/passwd',
  ]) {
    expect(readItemToken(secrets, job, wrong)).toBeNull();
  }
});

test('readItemToken() accepts a signed place only as a batch id and an index', () => {
  const write = (edit: object) => writeItemToken(secrets, job, { ...place, ...edit });
  expect(readItemToken(secrets, job, write({ index: 123_456_789 }))).toEqual({
    ...place,
    index: 123_456_789,
  });
  for (const wrong of [{ index: 1_234_567_890 }, { index: 7.5 }, { batchId: `x${place.batchId}` }])
    expect(readItemToken(secrets, job, write(wrong))).toBeNull();
});
