import { beforeEach, describe, expect, test } from 'vitest';
import { createKept, createSessions, type Sessions } from './sessions.ts';

const site = { market: 'mkta', region: 'sg', origin: 'https://shop.example.com' };
const page = `${site.origin}/api/items?page=1`;

let sessions: Sessions;

beforeEach(() => {
  sessions = createSessions();
});

describe('cookies', () => {
  test('go back to their origin, by path, security and expiry, until it takes them away', () => {
    sessions.keep(site, page, [
      'visitor=1; Path=/; Secure; Expires=Wed, 01 Jan 2098 00:00:00 GMT',
      'step=2; Path=/api',
      'cart=3; Path=/cart',
      'old=4; Expires=Thu, 01 Jan 1998 00:00:00 GMT',
    ]);
    expect(sessions.header(site, page)?.split('; ').sort()).toEqual(['step=2', 'visitor=1']);
    expect(sessions.header(site, `${site.origin}/cart`)?.split('; ').sort()).toEqual(['cart=3', 'visitor=1']);
    sessions.keep(site, page, ['visitor=; Path=/; Max-Age=0']);
    expect(sessions.header(site, page)).toBe('step=2');
  });

  test('never go to another origin, whatever domain they name', () => {
    sessions.keep(site, page, ['wide=1; Domain=example.com; Path=/']);
    expect(sessions.header(site, page)).toBe('wide=1');
    for (const other of [
      { ...site, origin: 'https://other.example.com' },
      { ...site, origin: 'http://shop.example.com' },
      { ...site, origin: 'https://shop.example.com:8443' },
      { ...site, region: 'my' },
      { ...site, market: 'mktb' },
    ]) {
      expect(sessions.header(other, `${other.origin}/`)).toBeUndefined();
    }
  });

  test('of other sites, of whole suffixes, and without sense are not taken', () => {
    sessions.keep(site, page, [
      'a=1; Domain=evil.example',
      'b=2; Domain=com',
      '',
      ';;;',
      `long=${'x'.repeat(5_000)}`,
    ]);
    expect(sessions.header(site, page)).toBeUndefined();
  });

  test('are forgotten for a market’s region alone', () => {
    const malaysia = { ...site, region: 'my', origin: 'https://shop.example.my' };
    sessions.keep(site, page, ['a=1']);
    sessions.keep(malaysia, `${malaysia.origin}/`, ['b=2']);
    sessions.drop('mkta', 'sg');
    expect(sessions.header(site, page)).toBeUndefined();
    expect(sessions.header(malaysia, `${malaysia.origin}/`)).toBe('b=2');
  });

  test('of a site that sets ever new ones stay few', () => {
    for (let at = 0; at < 250; at += 1) sessions.keep(site, page, [`c${at}=1; Path=/`]);
    expect(sessions.header(site, page)!.split('; ').length).toBeLessThanOrEqual(100);
  });

  test('begin with the choices of a visitor, and follow the site once it sets others', () => {
    const choices = { money: 'GBP', language: 'en_GB' };
    expect(sessions.header(site, page, choices)).toBe('money=GBP; language=en_GB');
    sessions.keep(site, page, ['money=EUR; Path=/', 'visitor=1; Path=/']);
    const pairs = sessions.header(site, page, choices)?.split('; ').sort();
    expect(pairs).toEqual(['language=en_GB', 'money=EUR', 'visitor=1']);
    sessions.drop('mkta', 'sg');
    expect(sessions.header(site, page, choices)).toBe('money=GBP; language=en_GB');
  });

  test('work for an address of a machine', () => {
    const local = { market: 'mktf', region: '', origin: 'http://127.0.0.1:4000' };
    sessions.keep(local, `${local.origin}/`, ['a=1; Path=/']);
    expect(sessions.header(local, `${local.origin}/x`)).toBe('a=1');
  });
});

test('the origin that was not used for longest is forgotten when there are too many', () => {
  const kept = createKept<number>(() => 8);
  const store = (at: number) => ({ market: 'mktf', region: '', origin: `https://store${at}.example` });
  for (let at = 0; at < 1_000; at += 1) kept.set(store(at), at);
  expect(kept.get(store(0))).toBe(0);
  kept.set(store(1_000), 1_000);
  expect(kept.get(store(0))).toBe(0);
  expect(kept.get(store(1))).toBeUndefined();
});

test('origins are forgotten when their cookies take too much memory', () => {
  const sessions = createSessions();
  const origin = (at: number) => `https://store${at}.example`;
  const store = (at: number) => ({ market: 'mktf', region: '', origin: origin(at) });
  const cookies = Array.from({ length: 100 }, (_, at) => `c${at}=${'x'.repeat(4_000)}; Path=/`);
  for (let at = 0; at < 60; at += 1) sessions.keep(store(at), `${origin(at)}/`, cookies);
  const kept = Array.from({ length: 60 }, (_, at) => sessions.header(store(at), `${origin(at)}/`));
  expect(kept.at(-1)).toContain('c99=');
  expect(kept.filter((header) => header !== undefined).length).toBeLessThan(45);
});
