import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { markets } from '../markets/list.ts';
import { parseOrigins } from './origins.ts';

test('parseOrigins() accepts one address, or addresses by region beside other settings', () => {
  const origins = parseOrigins(
    JSON.stringify({
      mkta: {
        id: 'https://id.example/',
        sg: 'http://127.0.0.1:8001',
        concurrency: 100_000,
        requests_per_second: 100_000,
      },
      mktd: 'https://d.example',
      mktf: { allow_private: true, requests_per_second: 0.5 },
    }),
  );
  expect(origins.get('mkta')?.addresses).toEqual(
    new Map([
      ['id', 'https://id.example'],
      ['sg', 'http://127.0.0.1:8001'],
    ]),
  );
  expect(origins.get('mkta')).toMatchObject({
    concurrency: 100_000,
    requestsPerSecond: 100_000,
    allowPrivate: false,
  });
  expect(origins.get('mktd')?.addresses.get('')).toBe('https://d.example');
  expect(origins.get('mktf')).toMatchObject({ allowPrivate: true, requestsPerSecond: 0.5 });
});

test.each([
  [
    '{"mkta": {"id": "ftp://x"}}',
    'line 1, column 17: mkta.id: "ftp://x" is not an address such as https://shop.example',
  ],
  [
    '{"mkta": {"id": "https://id.example/x?y"}}',
    'line 1, column 17: mkta.id: "https://id.example/x?y" has more than a host: remove "/x?y"',
  ],

  ['{\n  "mkta": {"concurrency": 0}}', 'line 2, column 27: mkta.concurrency: Too small'],
  ['{"mkta": {"concurrency": 100001}}', 'mkta.concurrency: Too big'],
  ['{"mkta": {"requests_per_second": 100001}}', 'mkta.requests_per_second: Too big'],
  [
    '{"mkta": {"concurrent": 5}}',
    'mkta.concurrent: no setting and no region. Did you mean concurrency?',
  ],
  ['{"shop": "https://x.example"}', 'line 1, column 10: shop: not a marketplace.'],
  ['{"mkta": 5, "mktb": {"id": 5}}', /mkta: .*\n.*mktb\.id: /],
  [
    '{"mkta": {\n  "sign": true,\n  "fetch": "browser"}}',
    'line 2, column 11: mkta.sign: requests of a browser are not signed: remove it, or "fetch": "browser"',
  ],
  [
    '{"mkta": {"keep_pages": "31d"}}',
    'line 1, column 25: mkta.keep_pages: expected a number of days, 1d to 30d',
  ],
  ['{"mkta": {"browser_url": "one"}}', 'mkta.browser_url: expected DevTools addresses'],
  ['{"mkta": {"sign": "yes"}}', 'line 1, column 19: mkta.sign: Invalid input'],
  ['[]', 'line 1, column 1: expected an object of marketplaces'],
])('parseOrigins() rejects %s and names the place', (text, message) => {
  expect(() => parseOrigins(text)).toThrow(message);
});

test('parseOrigins() accepts comments and trailing commas', () => {
  const text =
    '{\n  // One store.\n  "mktf": "https://f.example", /* fine */\n  "mkta": {"hosts": ["/*"]},\n}';
  expect(parseOrigins(text).get('mktf')?.addresses.get('')).toBe('https://f.example');
  expect(parseOrigins(text).get('mkta')?.hosts).toEqual(['/*']);
});

test.each([
  ['{\n  "mkta": {\n', 'line 3, column 1: close brace expected'],
  ['{\n  "mkta" {}\n}', 'line 2, column 10: colon expected'],
  ['', 'line 1, column 1: value expected'],
])('parseOrigins() names the line of a syntax error in %j', (text, message) => {
  expect(() => parseOrigins(text)).toThrow(message);
});

test('origins.example.json is valid and contains every marketplace and setting', () => {
  const text = readFileSync(new URL('../../origins.example.json', import.meta.url), 'utf8');
  const origins = parseOrigins(text);
  expect([...origins.keys()]).toEqual(['mkta', 'mktb', 'mktc', 'mktd', 'mkte', 'mktf']);
  const configured = markets.filter(({ regionPolicy }) => regionPolicy === undefined);
  const regions = configured.map(({ name, regions: names }) => [name, [...names].sort()]);
  const addresses = [...origins].map(([name, { addresses: known }]) => [
    name,
    [...known.keys()].sort(),
  ]);
  expect(addresses).toEqual(regions);
  const settings =
    'fetch concurrency requests_per_second hosts proxy robots sign browser_url keep_pages allow_private'.split(
      ' ',
    );
  expect(settings.filter((name) => !text.includes(`"${name}"`))).toEqual([]);
});
