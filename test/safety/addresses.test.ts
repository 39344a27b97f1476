import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { catalogue, openSafetyFixture, publicAddress, type SafetyFixture } from './fixture.ts';

let fixture: SafetyFixture;

beforeAll(async () => {
  fixture = await openSafetyFixture();
});

afterEach(async () => {
  await fixture.clear();
  expect(fixture.inside.connections()).toBe(0);
});

afterAll(() => fixture.stop());

test('reads a store on the public internet', async () => {
  expect(await fixture.read('https://shop.example/'.replace('https', 'http'))).toBe('1 products');
  expect(fixture.proxy.targets).toEqual(
    [`${publicAddress}:80`, `${publicAddress}:80`].slice(0, fixture.proxy.targets.length),
  );
});

describe('refuses an address of the operator’s network', () => {
  const forms = [
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '017700000001',
    '0',
    '0.0.0.0',
    '①②⑦.⓪.⓪.①',
    '１２７.0.0.1',
    '127。0。0。1',
    '%31%32%37.0.0.1',
    '[::1]',
    '[::]',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[fe80::1]',
    '[fd00::1]',
    '[fec0::1]',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.0.1',
    '100.64.0.1',
    '169.254.169.254',
    '[fd00:ec2::254]',
    '255.255.255.255',
    '224.0.0.1',
  ];
  test.each(forms)('as %s', async (host) => {
    for (const settings of [null, {}, fixture.throughProxy()]) {
      expect(await fixture.read(`http://${host}:${fixture.inside.port}/`, settings)).toBe(
        'address_refused',
      );
    }
    expect(fixture.proxy.targets).toEqual([]);
  });

  test.each([
    ['a zone', 'http://[fe80::1%25lo]:PORT/'],
    ['a user', 'http://shop.example@127.0.0.1:PORT/'],
    ['a password', 'http://127.0.0.1:PORT@shop.example/'],
    ['an encoded user', 'http://shop.example%40127.0.0.1:PORT/'],
    ['a space', 'http://127.0.0.1 :PORT/'],
    ['a null', 'http://127.0.0.1%00.shop.example:PORT/'],
    ['no scheme', '127.0.0.1:PORT/'],
    ['no scheme but slashes', '//127.0.0.1:PORT/'],
    ['a port beyond', 'http://127.0.0.1:99999/'],
    ['nothing', ''],
  ])('rejects a URL with %s as invalid', async (_name, url) => {
    expect(await fixture.read(url.replace('PORT', `${fixture.inside.port}`), {})).toBe('invalid');
  });

  test.each([
    ['one slash', 'http:/127.0.0.1:PORT/'],
    ['no slash', 'http:127.0.0.1:PORT/'],
    ['three slashes', 'http:///127.0.0.1:PORT/'],
    ['backslashes', 'http:\\\\127.0.0.1:PORT\\'],
    ['a backslash before the host', 'http://127.0.0.1:PORT\\?@shop.example/'],
    ['tabs and line ends', 'ht\ttp://127.0.\n0.1:PORT/'],
    ['another case', 'HTTP://LOCALHOST:PORT/'],
  ])('is not misled by %s', async (_name, url) => {
    fixture.names.localhost = ['127.0.0.1'];
    expect(await fixture.read(url.replace('PORT', `${fixture.inside.port}`), {})).toBe(
      'address_refused',
    );
  });

  test.each([
    ['localhost', '127.0.0.1'],
    ['localhost.', '::1'],
    ['metadata.google.internal', '169.254.169.254'],
    ['inside.example', '10.1.2.3'],
    ['INSIDE.example', '192.168.7.7'],
    ['xn--mgba3a4f16a.example', '127.0.0.1'],
    ['ﬁsh.example', '127.0.0.1'],
    ['mapped.example', '::ffff:127.0.0.1'],
    ['nat64.example', '64:ff9b::7f00:1'],
    ['sixtofour.example', '2002:7f00:1::'],
    ['teredo.example', '2001:0:7f00:1::'],
    ['one-of-two.example', `${publicAddress} 127.0.0.1`],
    ['zone.example', 'fe80::1%eth0'],
  ])('given by the name %s', async (host, address) => {
    fixture.names[new URL(`http://${host}`).hostname] = [address];
    for (const settings of [null, {}, fixture.throughProxy()]) {
      expect(await fixture.read(`http://${host}:${fixture.inside.port}/`, settings)).toBe(
        'address_refused',
      );
    }
    expect(fixture.proxy.targets).toEqual([]);
  });

  test('given by a name that resolves differently the second time', async () => {
    fixture.names['rebinding.example'] = [publicAddress, '127.0.0.1'];
    fixture.respond = (_request, response) =>
      void response.writeHead(200, { connection: 'close' }).end(catalogue);
    expect(await fixture.read(`http://rebinding.example:${fixture.inside.port}/`)).toMatch(
      /address_refused|1 products/,
    );
    for (const target of fixture.proxy.targets)
      expect(target).toBe(`${publicAddress}:${fixture.inside.port}`);
    fixture.names['late.example'] = [publicAddress, '127.0.0.1'];
    fixture.respond = (_request, response) => {
      const products = Array.from({ length: 250 }, (_, id) => ({
        id: `${fixture.outside.requests.length}-${id}`,
      }));
      response.writeHead(200, { connection: 'close' }).end(JSON.stringify({ products }));
    };
    fixture.outside.requests.length = 0;
    expect(await fixture.read(`http://late.example:${fixture.inside.port}/`)).toBe(
      'address_refused',
    );
    expect(fixture.outside.requests.length).toBeLessThanOrEqual(2);
  });

  test.each([1, 21, 22, 25, 110, 465, 587, 993, 0])(
    'with port %d of another service',
    async (port) => {
      expect(await fixture.read(`http://shop.example:${port}/`)).toBe('address_refused');
      expect(fixture.proxy.targets).toEqual([]);
    },
  );

  test('even if the market is not in the origins file, unless allow_private is set', async () => {
    expect(await fixture.read(`http://127.0.0.1:${fixture.outside.port}/`, null)).toBe(
      'address_refused',
    );
    expect(
      await fixture.read(`http://127.0.0.1:${fixture.outside.port}/`, { allow_private: false }),
    ).toBe('address_refused');
    expect(
      await fixture.read(`http://127.0.0.1:${fixture.outside.port}/`, { allow_private: true }),
    ).toBe('1 products');
  });
});

test.each([
  'file:///etc/passwd',
  'file://127.0.0.1/etc/passwd',
  'gopher://127.0.0.1:6379/_SET%20a%20b',
  'ftp://shop.example/',
  'dict://127.0.0.1:11211/stats',
  'ldap://127.0.0.1/',
  'ws://shop.example/',
  'data:application/json,{"products":[]}',
  'javascript:alert(1)',
  'blob:http://shop.example/1',
  'view-source:http://shop.example/',
  'unix:/var/run/docker.sock',
])('rejects the scheme of %s', async (url) => {
  expect(await fixture.read(url)).toBe('invalid');
});
