import { expect, test } from 'vitest';
import { parseOrigins } from '../base/origins.ts';
import { chooseFetcher } from './choose.ts';
import type { Fetcher } from './http.ts';

const did: string[] = [];

function fetcher(name: string): Fetcher {
  return {
    for: (market, region) => async (request) => ({
      status: 200,
      headers: {},
      body: Buffer.from(`${name} ${market}/${region} ${request.path}`),
      url: '',
      at: 0,
    }),
    originOf: () => name,
    forget: (market, region) => did.push(`${name} forgets ${market}/${region}`),
    close: async () => {
      did.push(`${name} closes`);
    },
  };
}

const chosen = chooseFetcher(
  parseOrigins('{"mkta": {"fetch": "browser", "sg": "http://a"}, "mktb": {"id": "http://b"}}'),
  { http: fetcher('http'), browser: fetcher('browser') },
);
const body = async (market: string, region: string) =>
  (await chosen.for(market, region)({ path: '/x' })).body.toString();

test('each market’s pages come from the fetcher that the origins file names, else by plain HTTP', async () => {
  expect(await body('mkta', 'sg')).toBe('browser mkta/sg /x');
  expect(await body('mktb', 'id')).toBe('http mktb/id /x');
  expect(await body('mktc', 'id')).toBe('http mktc/id /x');
  expect(chosen.originOf('mkta', 'sg', {})).toBe('browser');
  chosen.forget('mkta', 'sg');
  chosen.forget('mktb', 'id');
  await chosen.close();
  expect(did).toEqual(['browser forgets mkta/sg', 'http forgets mktb/id', 'http closes', 'browser closes']);
});
