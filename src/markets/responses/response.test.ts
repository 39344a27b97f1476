import { describe, expect, it } from 'vitest';
import { isObject } from '../../base/json.ts';
import type { Fault } from '../../contract/fault.ts';
import type { PageResponse } from '../../fetch/page.ts';
import { redirectFault } from './redirects.ts';
import { checkInterface, errorMessage, pageTime, parseJsonResponse } from './response.ts';

function createResponse(
  status: number,
  body: string,
  headers: Record<string, string> = {},
): PageResponse {
  return { status, headers, body: Buffer.from(body), url: 'http://site.test/', at: 0 };
}

function faultOf(page: PageResponse): Fault {
  try {
    parseJsonResponse(page);
  } catch (thrown) {
    return thrown as Fault;
  }
  throw new Error('no fault');
}

describe('parseJsonResponse()', () => {
  it('reads JSON of any content type, with or without a byte order mark', () => {
    expect(
      parseJsonResponse(createResponse(200, '\uFEFF{"a": 1}\n', { 'content-type': 'text/html' })),
    ).toEqual({
      a: 1,
    });
  });

  it('decodes JSON that is not UTF-8 by the charset that the response declares', () => {
    const body = Buffer.from('{"title": "Café"}', 'latin1');
    const headers = { 'content-type': 'application/json; charset=ISO-8859-1' };
    expect(parseJsonResponse({ ...createResponse(200, '', headers), body })).toEqual({
      title: 'Café',
    });
  });

  it.each([
    [404, '{"errors":"Not Found"}', 'page_not_found', /404: Not Found/],
    [410, '', 'page_not_found', /410/],
    [400, '{"message":"product NOT_FOUND"}', 'page_not_found', /product NOT_FOUND/],
    [400, '{"message":"bad page"}', 'page_failed', /bad page/],
    [403, '<html><title>Access Denied</title></html>', 'page_blocked', /403: Access Denied/],
    [401, '', 'page_login', /401/],
    [451, '', 'page_region', /451/],
    [
      405,
      '{"url":"https://geo.captcha-delivery.com/captcha/"}',
      'page_blocked',
      /405: a robot check/,
    ],
    [430, '', 'page_blocked', /430/],
    [429, '', 'page_throttled', /429/],
    [503, 'busy', 'page_throttled', /503/],
    [500, '{"error":{"message":"no luck"}}', 'page_failed', /500: no luck/],
    [
      404,
      '<html><title>404</title><script src="hcaptcha.js"></script></html>',
      'page_not_found',
      /404/,
    ],
    [404, '<title'.repeat(1_000_000), 'page_not_found', /404/],
    [404, '<html><title>Just a moment...</title></html>', 'page_blocked', /404/],
    [410, '<html><title>Access denied</title></html>', 'page_blocked', /410/],
    [404, '<html><title>Service unavailable</title></html>', 'page_failed', /another attempt/],
    [404, '{"message":"server overloaded"}', 'page_failed', /another attempt/],
    [206, '{"products":[]}', 'page_failed', /206/],
    [226, '{"products":[]}', 'page_failed', /226/],
  ])('classifies status %d with %.80j as %s', (status, body, code, message) => {
    const fault = faultOf(createResponse(status, body));
    expect(fault.code).toBe(code);
    expect(fault.message).toMatch(message);
  });

  it.each([
    ['<html><head><title>Just a moment...</title></head></html>', 'page_blocked'],
    ['<html><body>please solve this captcha</body></html>', 'page_blocked'],
    ['{"sec-cp-challenge": "true", "provider": "crypto"}', 'page_blocked'],
    ['{"url": "https://geo.captcha-delivery.com/captcha/"}', 'page_blocked'],
    ['<!DOCTYPE html><title>Our shop</title><p>Welcome', 'page_unreadable'],
    [`<html><title>Shop</title>${'x'.repeat(40_000)}captcha`, 'page_unreadable'],
    ['', 'page_empty'],
    ['{"products": [{"id": 1', 'page_unreadable'],
  ])('classifies a 200 with %.60s as %s', (body, code) =>
    expect(faultOf(createResponse(200, body)).code).toBe(code),
  );

  it('includes the requested delay of a throttled response', () => {
    const fault = faultOf(createResponse(429, '', { 'retry-after': '7' }));
    expect(fault.retryAfterMs).toBe(7000);
    expect(fault.message).toContain('7 s');
  });
});

it('retries a missing page if the site asks for that', () => {
  const headers = { 'retry-after': '7' };
  expect(faultOf(createResponse(404, '', headers))).toMatchObject({
    code: 'page_failed',
    retryAfterMs: 7000,
  });
  expect(faultOf(createResponse(410, '', headers)).code).toBe('page_not_found');
});

describe('checkInterface()', () => {
  const codeOf = (status: number, body: string) => {
    try {
      checkInterface(createResponse(status, body), (value) => isObject(value) && 'code' in value);
    } catch (thrown) {
      return (thrown as Fault).code;
    }
    return 'none';
  };

  it.each([
    [404, '{"code": 404, "data": null}', 'none'],
    [200, '<html>', 'none'],
    [500, '<html>', 'none'],
    [404, '<html><title>404 Not Found</title></html>', 'page_failed'],
    [404, '{"status": 404, "path": "/backend"}', 'page_failed'],
    [410, '', 'page_failed'],
    [404, '<html><title>Just a moment...</title></html>', 'page_blocked'],
  ])('classifies a %d with %j as %s', (status, body, code) =>
    expect(codeOf(status, body)).toBe(code),
  );
});

describe('redirectFault()', () => {
  it.each([
    ['/login?next=%2F', 'page_login'],
    ['https://accounts.site.test/signin', 'page_login'],
    ['/verify/traffic', 'page_blocked'],
    ['/splashui/captcha?ap=1', 'page_blocked'],
    ['/select-country?to=1', 'page_region'],
    ['/global-gateway', 'page_region'],
    ['http://site.co.uk/', 'page_region'],
    ['http://de.site.test/a', 'page_region'],
    ['http://www.site.test/', 'page_failed'],
    ['http://other.test/', 'page_failed'],
    ['/blog/login-tips', 'page_failed'],
    ['/error/404', 'page_not_found'],
    ['/page-not-found.html', 'page_not_found'],
    ['/p/not-found-in-nature', 'page_failed'],
    ['/', 'page_failed'],
    ['http://[', 'page_failed'],
  ])('classifies a redirect to %s as %s', (location, code) => {
    const fault = faultOf(createResponse(302, '', { location }));
    expect(fault.code).toBe(code);
    expect(fault.message).toContain(`302 and points to ${location}`);
  });

  it('returns page_region for another region of the market', () => {
    const page = createResponse(301, '', { location: '/th/a' });
    expect(redirectFault(page, ({ pathname }) => pathname.startsWith('/th/')).code).toBe(
      'page_region',
    );
  });

  it('returns page_failed without a target', () =>
    expect(faultOf(createResponse(302, '')).code).toBe('page_failed'));
});

describe('errorMessage()', () => {
  it.each([
    [[{ errors: [{ message: 'one' }, { message: 'two' }] }], 'one; two'],
    [{ errors: { sku: ['BLANK'] } }, '{"sku":["BLANK"]}'],
    [{ errors: ['gone'] }, '["gone"]'],
    [{ data: null }, null],
    ['words', null],
  ])('reads %j as %j', (value, words) => expect(errorMessage(value)).toBe(words));
});

const arrivedAt = Date.UTC(2026, 4, 1);

it.each([
  [undefined, 0],
  ['0', 0],
  ['86400', 86_400_000],
  [' 60 ', 60_000],
  ['60, 30', 60_000],
  ['-60', 0],
  ['1.5', 0],
  ['soon', 0],
  ['9999999999', arrivedAt],
])('pageTime() of a page with the age %j is %d ms before it arrived', (age, ms) =>
  expect(pageTime({ at: arrivedAt, headers: age === undefined ? {} : { age } })).toBe(
    arrivedAt - ms,
  ),
);

it.each([
  ['is a minute old', '2026-04-30T23:59:00Z', undefined, 0],
  ['is an hour old', '2026-04-30T23:00:00Z', undefined, 3_600_000],
  ['is an hour old, with a lower age', '2026-04-30T23:00:00Z', '60', 3_600_000],
  ['is an hour old, with a higher age', '2026-04-30T23:00:00Z', '7200', 7_200_000],
  ['is a day in the future', '2026-05-02T00:00:00Z', undefined, 0],
  ['is two years old', '2024-05-01T00:00:00Z', undefined, 0],
])('pageTime() of a page whose date %s', (_, date, age, ms) => {
  const at = Date.parse('2026-05-01T00:00:00Z');
  const headers = { date: new Date(date).toUTCString(), ...(age === undefined ? {} : { age }) };
  expect(pageTime({ at, headers })).toBe(at - ms);
});
