import { expect, test } from 'vitest';
import type { PageResponse } from '../../fetch/page.ts';
import { parseResponse } from './faults.ts';

function createResponse(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): PageResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, headers, body: Buffer.from(text), url: 'http://x', at: 0 };
}

const named = {
  is_customized: false,
  is_login: true,
  action_type: 2,
  error: 90309999,
  tracking_id: 'a',
};
const numbered = { 0: 1, 1: 'a', 3: 90309999 };
const captcha = '<!doctype html><form action="/verify/captcha">slide</form>';

test.each([
  ['the refusal by name', 200, named, {}, 'page_blocked'],
  ['the refusal with status 403', 403, named, {}, 'page_blocked'],
  ['the refusal by number', 200, numbered, {}, 'page_blocked'],
  [
    'a refusal that names no error',
    200,
    { is_login: true, action_type: 2, tracking_id: 'a' },
    {},
    'page_blocked',
  ],
  [
    'a redirect to a check',
    302,
    '',
    { location: 'https://shop.example/verify/traffic' },
    'page_blocked',
  ],
  ['a redirect to the login', 307, '', { location: '/buyer/login?next=x' }, 'page_login'],
  [
    "a redirect to another country's host",
    302,
    '',
    { location: 'https://shop.example.co.th/' },
    'page_region',
  ],
  [
    'a choice of languages',
    200,
    '<h1>Select your language</h1><a href="/?lang=en">',
    {},
    'page_region',
  ],
  ['a login page', 200, '<title>Login</title><input type="password">', {}, 'page_login'],
  ['a page about unusual traffic', 200, '<p>Unusual traffic from your network', {}, 'page_blocked'],
  ['a shell', 200, '<div id="main"></div><script src="/app.js"></script>', {}, 'page_empty'],
  ['a web page that says 404', 200, '<title>404 Not Found</title>', {}, 'page_failed'],
  ['a page with a check', 200, captcha, {}, 'page_blocked'],
  ['status 401', 401, '', {}, 'page_login'],
  ['status 403', 403, '<html>', {}, 'page_blocked'],
  ['the number for no such page', 200, { error: 266900002, data: null }, {}, 'page_not_found'],
  ['the older number for it', 200, { error: 4, data: null }, {}, 'page_not_found'],
  ['the number for it with status 404', 404, { error: 266900002 }, {}, 'page_not_found'],
  ['status 404 alone', 404, '<html>404</html>', {}, 'page_failed'],
  ['a redirect isOtherRegion', 301, '', { location: '/' }, 'page_failed'],
  ['status 500', 500, 'oops', {}, 'page_failed'],
  ['status 503', 503, '', {}, 'page_failed'],
  ['status 503 with a wait', 503, '', { 'retry-after': '3' }, 'page_throttled'],
  ['status 429', 429, {}, {}, 'page_throttled'],
  [
    'a withdrawn path',
    200,
    { error: 10005, error_msg: 'This API is deprecated.' },
    {},
    'page_failed',
  ],
  ['an unknown error', 200, { error: 77, error_msg: 'why', data: null }, {}, 'page_failed'],
  ['an error in words', 200, { error: 'error_param', data: null }, {}, 'page_failed'],
  ['a page that is not for this country', 451, '', {}, 'page_region'],
  ['another web page', 200, '<html>Welcome</html>', {}, 'page_unreadable'],
  ['a truncated response', 200, '{"error":null,"data":{"it', {}, 'page_unreadable'],
  ['nothing', 200, '', {}, 'page_empty'],
  ['a list', 200, [], {}, 'page_unreadable'],
  ['null', 200, 'null', {}, 'page_unreadable'],
])('%s is %4$s', (_name, status, body, headers, code) => {
  expect(() =>
    parseResponse(createResponse(status, body, headers as Record<string, string>)),
  ).toThrow(expect.objectContaining({ code }));
});

test('the fault has the requested delay', () => {
  const headers = { 'retry-after': '3' };
  expect(() => parseResponse(createResponse(429, '', headers))).toThrow(
    expect.objectContaining({ retryAfterMs: 3000 }),
  );
});

test.each([null, 0, undefined])('error %j is no fault', (error) => {
  expect(parseResponse(createResponse(200, { error, data: {} }))).toHaveProperty('data');
});

test('decodes a response that is not UTF-8 by the charset that it declares', () => {
  const headers = { 'content-type': 'application/json; charset=ISO-8859-1' };
  const body = Buffer.from('{"error": null, "data": {"title": "Café"}}', 'latin1');
  expect(parseResponse({ ...createResponse(200, '', headers), body })).toMatchObject({
    data: { title: 'Café' },
  });
});
