import { describe, expect, test } from 'vitest';
import { parseOrigins } from '../base/origins.ts';
import { createDeclaredSites } from '../markets/declared-sites/declared-sites.ts';
import { assertRemoteBrowsers } from './remote-browsers.ts';

describe('assertRemoteBrowsers()', () => {
  const check = (origins: object, browserUrls: string[] = [], declarations: object = {}) => {
    const sites = createDeclaredSites();
    sites.use(
      { path: '/nowhere', texts: { 'sites.json': JSON.stringify(declarations) } },
      undefined,
      () => 0,
    );
    assertRemoteBrowsers({ origins: parseOrigins(JSON.stringify(origins)), browserUrls }, sites);
  };
  const kiln = { kiln: { hosts: ['kiln.example'], fetch: 'browser' } };
  const remote = ['http://browser:9222'];

  test('accepts marketplaces and shops with addresses, and browsers on this machine', () => {
    check({ mkta: { sg: 'https://shop.example', fetch: 'browser' } }, remote);
    check({ sites: { kiln: 'https://kiln.example' } }, remote, kiln);
    check({ mktf: { fetch: 'browser' } }, [], kiln);
    check({ mktf: { fetch: 'http' } }, remote);
    check(
      { mkta: { sg: 'https://shop.example', fetch: 'browser', browser_url: remote[0] } },
      [],
      kiln,
    );
  });

  test.each([
    [{ mktf: { fetch: 'browser' } }, remote, {}, /mktf has no address/],
    [{ mktf: { fetch: 'browser', browser_url: remote[0] } }, [], {}, /mktf has no address/],
    [
      { mkta: { sg: 'https://shop.example', fetch: 'browser', proxy: 'http://proxy:1' } },
      remote,
      {},
      /mkta\.proxy/,
    ],
    [{}, remote, kiln, /the site kiln uses a browser/],
  ])('refuses %j with %j', (origins, urls, declarations, message) => {
    expect(() => check(origins, urls, declarations)).toThrow(message);
  });
});
