import { expect, test } from 'vitest';
import { parseAddress } from './address.ts';

test('parseAddress() returns endpoint, bucket, credentials and region', () => {
  expect(
    parseAddress('https://AKIA:s%2Fcret@s3.example.org:9000/results?region=eu-west-1'),
  ).toEqual({
    endpoint: 'https://s3.example.org:9000',
    bucket: 'results',
    region: 'eu-west-1',
    credentials: { accessKeyId: 'AKIA', secretAccessKey: 's/cret' },
    publicEndpoint: 'https://s3.example.org:9000',
  });
});

test('parseAddress() accepts optional credentials, region and public URL', () => {
  expect(parseAddress('http://minio:9000/my.results/')).toMatchObject({
    bucket: 'my.results',
    region: 'us-east-1',
    credentials: undefined,
  });
  expect(parseAddress('http://minio:9000/results?public=https://files.example.org')).toMatchObject({
    endpoint: 'http://minio:9000',
    publicEndpoint: 'https://files.example.org',
  });
});

test.each([
  ['s3://bucket', /expected https/],
  ['nonsense', /expected https/],
  ['https://host/', /"" is not a bucket name/],
  ['https://host/a/b', /"a\/b" is not a bucket name/],
  ['https://key-alone@host/bucket', /requires a secret/],
  ['https://k:hidden@host/BUCKET', /"BUCKET" is not a bucket name/],
  ['https://host/bucket?public=files', /public=files/],
])('parseAddress() rejects %s', (text, message) => {
  expect(() => parseAddress(text)).toThrow(message);
  expect(() => parseAddress(text)).not.toThrow(/hidden/);
});
