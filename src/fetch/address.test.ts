import { describe, expect, test } from 'vitest';
import { guardedLookup, isPublicAddress, type ResolveName, storeOrigin } from './address.ts';

describe('isPublicAddress()', () => {
  test.each(['8.8.8.8', '93.184.216.34', '2606:4700::1111', '172.32.0.1', '100.63.0.1'])(
    'returns true for %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  test.each([
    '127.0.0.1',
    '127.1.2.3',
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.127.255.255',
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '239.1.1.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd12::1',
    'fec0::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '::8.8.8.8',
    '64:ff9b::a00:1',
    '64:ff9b:1::a00:1',
    '2002:7f00:1::',
    '2002:808:808::',
    '2001::1',
    '2001:db8::1',
    '100::1',
    'nonsense',
    '',
  ])('returns false for %j', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
});

describe('storeOrigin()', () => {
  test('removes the path, upper case, and the default port', () => {
    expect(storeOrigin('HTTPS://Shop.Example:443/a?b', false)).toBe('https://shop.example');
    expect(storeOrigin('http://shop.example:8080', false)).toBe('http://shop.example:8080');
  });

  test.each([
    'http://127.0.0.1',
    'http://0x7f000001',
    'http://2130706433',
    'http://017700000001',
    'http://127.1',
    'http://0',
    'http://127.0.0.1.',
    'http://[::1]',
    'http://[::ffff:7f00:1]',
    'http://169.254.169.254',
    'http://①②⑦.0.0.1',
    'ftp://shop.example',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://u:p@shop.example',
    'shop.example',
    '',
  ])('refuses %j', (origin) => {
    expect(() => storeOrigin(origin, false)).toThrow(
      expect.objectContaining({ code: 'address_refused' }),
    );
  });

  test('accepts private addresses if they are allowed, but still only http and https', () => {
    expect(storeOrigin('http://127.0.0.1:1', true)).toBe('http://127.0.0.1:1');
    expect(() => storeOrigin('ftp://127.0.0.1', true)).toThrow('not ftp:');
  });
});

describe('guardedLookup()', () => {
  const resolving =
    (...addresses: string[]): ResolveName =>
    (_host, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
  const lookUp = (resolve: ResolveName, all: boolean) =>
    new Promise<unknown[]>((done) =>
      guardedLookup(resolve)('shop.example', { all }, (...given) => done(given)),
    );

  test('returns the checked addresses in the requested form', async () => {
    const resolve = resolving('8.8.8.8', '2606:4700::1111');
    expect(await lookUp(resolve, true)).toEqual([
      null,
      [
        { address: '8.8.8.8', family: 4 },
        { address: '2606:4700::1111', family: 6 },
      ],
    ]);
    expect(await lookUp(resolve, false)).toEqual([null, '8.8.8.8', 4]);
  });

  test('refuses a name with one private address', async () => {
    const [error] = await lookUp(resolving('8.8.8.8', '10.0.0.5'), true);
    expect(error).toMatchObject({
      code: 'address_refused',
      message: expect.stringContaining('10.0.0.5'),
    });
  });

  test('passes on resolver errors', async () => {
    const missing = Object.assign(new Error('no'), { code: 'ENOTFOUND' });
    expect((await lookUp((_host, _options, callback) => callback(missing, []), true))[0]).toBe(
      missing,
    );
  });
});
