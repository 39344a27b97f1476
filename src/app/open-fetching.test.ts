import { expect, test } from 'vitest';
import type { Fetcher } from '../fetch/http.ts';
import { createMarketFetcher } from './open-fetching.ts';

const calls: string[] = [];

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
    discardSession: (market, region) => calls.push(`${name} discards ${market}/${region}`),
    close: async () => {
      calls.push(`${name} closes`);
    },
  };
}

const marketFetcher = createMarketFetcher(
  (market, region) => (`${market}/${region}` === 'mkta/sg' ? 'browser' : 'http'),
  { http: fetcher('http'), browser: fetcher('browser') },
);
const body = async (market: string, region: string) =>
  (await marketFetcher.for(market, region)({ path: '/x' })).body.toString();

test('createMarketFetcher() uses the method of each market and region', async () => {
  expect(await body('mkta', 'sg')).toBe('browser mkta/sg /x');
  expect(await body('mktb', 'id')).toBe('http mktb/id /x');
  expect(await body('mkta', 'id')).toBe('http mkta/id /x');
  expect(marketFetcher.originOf('mkta', 'sg', {})).toBe('browser');
  marketFetcher.discardSession('mkta', 'sg');
  marketFetcher.discardSession('mktb', 'id');
  await marketFetcher.close();
  expect(calls).toEqual([
    'browser discards mkta/sg',
    'http discards mktb/id',
    'http closes',
    'browser closes',
  ]);
});
