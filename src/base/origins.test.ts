import { expect, test } from 'vitest';
import { parseOrigins } from './origins.ts';

test('a market is one address, or addresses by region beside its settings', () => {
  const origins = parseOrigins(
    JSON.stringify({
      mkta: {
        id: 'https://id.example/x',
        sg: 'http://127.0.0.1:8001',
        concurrency: 10_000,
        requests_per_second: 0.5,
      },
      mktd: 'https://d.example',
      mktf: { allow_private: true },
    }),
  );
  expect(origins.get('mkta')?.addresses).toEqual(
    new Map([
      ['id', 'https://id.example'],
      ['sg', 'http://127.0.0.1:8001'],
    ]),
  );
  expect(origins.get('mkta')).toMatchObject({
    concurrency: 10_000,
    requestsPerSecond: 0.5,
    allowPrivate: false,
  });
  expect(origins.get('mktd')?.addresses.get('')).toBe('https://d.example');
  expect(origins.get('mktf')).toMatchObject({ allowPrivate: true });
});

test.each([
  ['{"mkta": {"id": "ftp://x"}}', /mkta/],
  ['{"mkta": {"concurrency": 0}}', /mkta/],
  ['{"mkta": {"concurrency": 10001}}', /mkta/],
  ['{"shop": "https://x.example"}', /shop/],
  ['[]', /./],
])('%s is refused with the key that is wrong', (text, message) => {
  expect(() => parseOrigins(text)).toThrow(message);
});
