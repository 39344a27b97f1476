import type { ServerResponse } from 'node:http';
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

const redirecting = (location: string) => (_request: unknown, response: ServerResponse) => {
  response.writeHead(302, { location }).end();
};

describe('a redirect', () => {
  test.each([
    'http://127.0.0.1:PORT/products.json',
    '//127.0.0.1:PORT/',
    'http://2130706433:PORT/',
    'http://0x7f.1:PORT/',
    'http://[::1]:PORT/',
    'http://[::ffff:7f00:1]:PORT/',
    'http://169.254.169.254/latest/meta-data/iam/security-credentials/',
    'https://10.0.0.1/',
    'http://inside.example:PORT/',
    'http:127.0.0.1:PORT',
    'http:\\\\127.0.0.1:PORT',
    'file:///etc/passwd',
    'gopher://127.0.0.1:PORT/_x',
    'ftp://shop.example/',
    'javascript:alert(1)',
    'data:application/json,{"products":[{"id":9}]}',
    'http://shop.example:22/',
  ])('is refused if it leads to %s', async (location) => {
    fixture.names['inside.example'] = ['127.0.0.1'];
    fixture.respond = redirecting(location.replace('PORT', `${fixture.inside.port}`));
    expect(await fixture.read('http://shop.example/')).toMatch(
      /^(?:address_refused|page_failed|page_mismatch)$/,
    );
    for (const target of fixture.proxy.targets) expect(target).toBe(`${publicAddress}:80`);
  });

  test('is refused on every hop to a private address, even if a name resolves differently later', async () => {
    fixture.names['www.shop.example'] = [publicAddress, '127.0.0.1'];
    fixture.respond = (request, response) => {
      const other =
        request.headers.host === 'shop.example'
          ? `www.shop.example:${fixture.inside.port}`
          : '127.0.0.1';
      response
        .writeHead(301, { location: `http://${other}${request.url}`, connection: 'close' })
        .end();
    };
    expect(await fixture.read('http://shop.example/')).toBe('address_refused');
  });

  test('ends if it leads to itself or through an endless chain', async () => {
    fixture.respond = (request, response) => redirecting(request.url!)(request, response);
    expect(await fixture.read('http://shop.example/')).toBe('page_failed');
    expect(fixture.outside.requests.length).toBeLessThanOrEqual(5);
    fixture.outside.requests.length = 0;
    let turn = 0;
    fixture.respond = (request, response) => {
      turn += 1;
      redirecting(`http://shop${turn}.example/products.json`)(request, response);
    };
    expect(await fixture.read('http://shop.example/')).toBe('page_failed');
    expect(turn).toBe(4);
  });

  test('carries no cookie, credentials, or referrer to another site', async () => {
    fixture.respond = (request, response) => {
      if (request.headers.host === 'shop.example') {
        const headers = {
          location: 'http://other.example/products.json',
          'set-cookie': 'visitor=7; domain=.example',
        };
        return void response.writeHead(302, headers).end();
      }
      response.writeHead(200).end(catalogue);
    };
    expect(await fixture.read('http://shop.example/')).toBe('1 products');
    const other = fixture.outside.requests.filter(
      ({ headers }) => headers.host === 'other.example',
    );
    expect(other.length).toBeGreaterThan(0);
    for (const { headers } of other) {
      expect(headers).not.toHaveProperty('cookie');
      expect(headers).not.toHaveProperty('referer');
    }
  });

  test('is not followed if it has a user and password', async () => {
    fixture.respond = redirecting('http://admin:secret@other.example/products.json');
    expect(await fixture.read('http://shop.example/')).toBe('page_failed');
    expect(JSON.stringify(fixture.outside.requests)).not.toMatch(/secret|YWRtaW46c2VjcmV0/);
    expect(fixture.outside.requests.every(({ headers }) => headers.host === 'shop.example')).toBe(
      true,
    );
  });
});

describe('a request', () => {
  const harmless = ['host', 'connection', 'user-agent', 'accept-encoding', 'accept'];

  test('has only the headers of a visitor’s request', async () => {
    await fixture.read('http://shop.example/collections/all');
    expect(fixture.outside.requests.length).toBeGreaterThan(1);
    for (const { headers } of fixture.outside.requests) {
      expect(Object.keys(headers).filter((name) => !harmless.includes(name))).toEqual([]);
      expect(headers['user-agent']).toBe('Gleaner/test');
    }
  });

  test.each([
    'http://shop.example/collections/a%0d%0aX-Injected:%20yes',
    'http://shop.example/collections/a\r\nX-Injected: yes',
    'http://shop.example/collections/a%20HTTP/1.1%0d%0aHost:%20127.0.0.1',
    'http://shop.example/collections/%E5%98%8A%E5%98%8DX-Injected:yes',
    'http://shop.example/search?q=a%0d%0aX-Injected:%20yes',
    'http://shop.example/collections/..%2f..%2fadmin',
    'http://shop.example/collections/%2e%2e/admin',
    'http://shop.example/collections/a%00b',
    'http://shop.example/collections/a%3f%23b',
  ])('asks for %j in a single request for one catalogue', async (url) => {
    const result = await fixture.read(url);
    for (const { target, headers } of fixture.outside.requests) {
      expect(headers).not.toHaveProperty('x-injected');
      expect(headers.host).toBe('shop.example');
      expect(target).toMatch(
        /^GET \/(?:robots\.txt|(?:collections\/[^/?#\s]+\/)?products\.json\?limit=250&page=1|collections\/[^/?#\s]+\.json)$/,
      );
    }
    expect(result).toMatch(/^(?:\d+ products|invalid|page_mismatch)$/);
  });
});
