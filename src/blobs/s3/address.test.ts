import { expect, test } from 'vitest';
import { parseAddress } from './address.ts';

test('an address holds endpoint, bucket, credentials and region', () => {
  expect(parseAddress('https://AKIA:s%2Fcret@s3.example.org:9000/results?region=eu-west-1')).toEqual({
    endpoint: 'https://s3.example.org:9000',
    bucket: 'results',
    region: 'eu-west-1',
    credentials: { accessKeyId: 'AKIA', secretAccessKey: 's/cret' },
    publicEndpoint: 'https://s3.example.org:9000',
  });
});

test('credentials, region and public name may be left out or given', () => {
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
  ['https://host/', /"" is no bucket's name/],
  ['https://host/a/b', /"a\/b" is no bucket's name/],
  ['https://key-alone@host/bucket', /go together/],
  ['https://k:hidden@host/BUCKET', /"BUCKET" is no bucket's name/],
  ['https://host/bucket?public=files', /public=files/],
])('%s is refused', (text, message) => {
  expect(() => parseAddress(text)).toThrow(message);
  expect(() => parseAddress(text)).not.toThrow(/hidden/);
});
