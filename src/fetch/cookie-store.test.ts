import { beforeEach, describe, expect, test } from 'vitest';
import { type CookieStore, createCookieStore, createScopedCache } from './cookie-store.ts';

const site = { market: 'mkta', region: 'sg', origin: 'https://shop.example.com' };
const page = `${site.origin}/api/items?page=1`;

let store: CookieStore;

beforeEach(() => {
  store = createCookieStore();
});

describe('createCookieStore()', () => {
  test('returns cookies to their origin, subject to path, Secure, and expiry, until the site deletes them', () => {
    store.save(site, page, [
      'visitor=1; Path=/; Secure; Expires=Wed, 01 Jan 2098 00:00:00 GMT',
      'step=2; Path=/api',
      'cart=3; Path=/cart',
      'old=4; Expires=Thu, 01 Jan 1998 00:00:00 GMT',
    ]);
    expect(store.header(site, page)?.split('; ').sort()).toEqual(['step=2', 'visitor=1']);
    expect(store.header(site, `${site.origin}/cart`)?.split('; ').sort()).toEqual([
      'cart=3',
      'visitor=1',
    ]);
    store.save(site, page, ['visitor=; Path=/; Max-Age=0']);
    expect(store.header(site, page)).toBe('step=2');
  });

  test('never returns cookies to another origin, whatever domain they name', () => {
    store.save(site, page, ['wide=1; Domain=example.com; Path=/']);
    expect(store.header(site, page)).toBe('wide=1');
    for (const other of [
      { ...site, origin: 'https://other.example.com' },
      { ...site, origin: 'http://shop.example.com' },
      { ...site, origin: 'https://shop.example.com:8443' },
      { ...site, region: 'my' },
      { ...site, market: 'mktb' },
    ]) {
      expect(store.header(other, `${other.origin}/`)).toBeUndefined();
    }
  });

  test('ignores cookies for other sites and public suffixes, and malformed ones', () => {
    store.save(site, page, [
      'a=1; Domain=evil.example',
      'b=2; Domain=com',
      '',
      ';;;',
      `long=${'x'.repeat(5_000)}`,
    ]);
    expect(store.header(site, page)).toBeUndefined();
  });

  test('drops the cookies of one region of a market only', () => {
    const malaysia = { ...site, region: 'my', origin: 'https://shop.example.my' };
    store.save(site, page, ['a=1']);
    store.save(malaysia, `${malaysia.origin}/`, ['b=2']);
    store.drop('mkta', 'sg');
    expect(store.header(site, page)).toBeUndefined();
    expect(store.header(malaysia, `${malaysia.origin}/`)).toBe('b=2');
  });

  test('limits the number of cookies of a site', () => {
    for (let at = 0; at < 250; at += 1) store.save(site, page, [`c${at}=1; Path=/`]);
    expect(store.header(site, page)!.split('; ').length).toBeLessThanOrEqual(100);
  });

  test('starts with the preferences, until the site sets other values', () => {
    const preferences = { money: 'GBP', language: 'en_GB' };
    expect(store.header(site, page, preferences)).toBe('money=GBP; language=en_GB');
    store.save(site, page, ['money=EUR; Path=/', 'visitor=1; Path=/']);
    const pairs = store.header(site, page, preferences)?.split('; ').sort();
    expect(pairs).toEqual(['language=en_GB', 'money=EUR', 'visitor=1']);
    store.drop('mkta', 'sg');
    expect(store.header(site, page, preferences)).toBe('money=GBP; language=en_GB');
  });

  test('supports origins with an IP address', () => {
    const local = { market: 'mktf', region: '', origin: 'http://127.0.0.1:4000' };
    store.save(local, `${local.origin}/`, ['a=1; Path=/']);
    expect(store.header(local, `${local.origin}/x`)).toBe('a=1');
  });
});

test('createScopedCache() evicts the least recently used origin', () => {
  const values = createScopedCache<number>(() => 8);
  const scope = (at: number) => ({
    market: 'mktf',
    region: '',
    origin: `https://store${at}.example`,
  });
  for (let at = 0; at < 1_000; at += 1) values.set(scope(at), at);
  expect(values.get(scope(0))).toBe(0);
  values.set(scope(1_000), 1_000);
  expect(values.get(scope(0))).toBe(0);
  expect(values.get(scope(1))).toBeUndefined();
});

test('createCookieStore() evicts the origins that were used least recently', () => {
  const store = createCookieStore();
  const origin = (at: number) => `https://shop-${at}.example`;
  const scope = (at: number) => ({ market: 'mktf', region: '', origin: origin(at) });
  for (let at = 0; at < 1_100; at += 1)
    store.save(scope(at), `${origin(at)}/`, [`c=${at}; Path=/`]);
  const values = Array.from({ length: 1_100 }, (_, at) =>
    store.header(scope(at), `${origin(at)}/`),
  );
  expect(values.at(-1)).toBe('c=1099');
  expect(values.filter((header) => header !== undefined)).toHaveLength(1_000);
});

test('createCookieStore() restarts a session whose cookies are larger than sites accept', () => {
  const store = createCookieStore();
  const site = { market: 'mkta', region: 'sg', origin: 'https://shop.example' };
  const cookie = (name: string) => `${name}=${'x'.repeat(3_000)}; Path=/`;
  store.save(site, 'https://shop.example/', [cookie('a'), cookie('b')]);
  expect(store.header(site, 'https://shop.example/')).toHaveLength(6_006);
  store.save(site, 'https://shop.example/', [cookie('c')]);
  expect(store.header(site, 'https://shop.example/')).toBeUndefined();
});
