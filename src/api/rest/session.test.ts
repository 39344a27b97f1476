import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import {
  applySessionCookie,
  deriveCsrfToken,
  isSameOrigin,
  readSessionCookie,
  writeSessionCookie,
} from './session.ts';

const plain = 'http://gleaner.test';
const tls = 'https://gleaner.test';
const requestWith = (headers: Record<string, string>) =>
  ({ headers: { ...headers } }) as unknown as IncomingMessage;

describe('writeSessionCookie()', () => {
  test('hides the cookie from scripts and from other sites', () => {
    expect(writeSessionCookie(requestWith({}), plain, 'token', 60)).toBe(
      'gleaner_session=token; Max-Age=60; Path=/; HttpOnly; SameSite=Strict',
    );
  });

  test.each([
    ['the public address is https', {}, tls],
    ['a proxy reports https', { 'x-forwarded-proto': 'https, http' }, plain],
  ])('restricts the cookie to https and to this host if %s', (_name, headers, publicUrl) => {
    expect(writeSessionCookie(requestWith(headers), publicUrl, 'token', 60)).toBe(
      '__Host-gleaner_session=token; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Strict',
    );
  });
});

describe('isSameOrigin()', () => {
  test.each([
    [true, {}],
    [true, { 'sec-fetch-site': 'same-origin' }],
    [true, { 'sec-fetch-site': 'none' }],
    [false, { 'sec-fetch-site': 'same-site' }],
    [false, { 'sec-fetch-site': 'cross-site' }],
    [false, { 'sec-fetch-site': 'cross-site', origin: plain }],
    [true, { origin: 'http://10.0.0.5:8080', host: '10.0.0.5:8080' }],
    [true, { origin: plain, host: 'behind-a-proxy' }],
    [false, { origin: 'http://10.0.0.5:81', host: '10.0.0.5:8080' }],
    [false, { origin: 'https://other.test', host: 'gleaner.test' }],
    [false, { origin: 'null', host: 'gleaner.test' }],
  ])('returns %s for %j', (isSame, headers) => {
    expect(isSameOrigin(requestWith(headers as Record<string, string>), plain)).toBe(isSame);
  });
});

describe('applySessionCookie()', () => {
  const cookie = 'theme=dark; gleaner_session=gls_abc';
  const csrf = deriveCsrfToken('gls_abc');
  const authorizationOf = (headers: Record<string, string>, publicUrl = plain) => {
    const request = requestWith(headers);
    applySessionCookie(request, publicUrl);
    return request.headers.authorization;
  };

  test('authenticates a request with the cookie and its CSRF token', () => {
    expect(authorizationOf({ cookie, 'x-csrf-token': csrf })).toBe('Session gls_abc');
  });

  test.each([
    ['without the CSRF token', { cookie }],
    ['with an empty CSRF token', { cookie, 'x-csrf-token': '' }],
    ["with another session's CSRF token", { cookie, 'x-csrf-token': deriveCsrfToken('gls_xyz') }],
    ['with the session token as CSRF token', { cookie, 'x-csrf-token': 'gls_abc' }],
    ['of another site', { cookie, 'x-csrf-token': csrf, 'sec-fetch-site': 'cross-site' }],
    [
      'of another origin',
      { cookie, 'x-csrf-token': csrf, origin: 'http://evil.test', host: 'gleaner.test' },
    ],
    ['without the cookie', { cookie: 'theme=dark', 'x-csrf-token': csrf }],
    [
      'with a cookie that no session has',
      { cookie: 'gleaner_session=a b', 'x-csrf-token': deriveCsrfToken('a b') },
    ],
  ])('ignores the cookie of a request %s', (_name, headers) => {
    expect(authorizationOf(headers as Record<string, string>)).toBeUndefined();
  });

  test('keeps an API key and replaces credentials of a proxy', () => {
    const headers = { cookie, 'x-csrf-token': csrf };
    expect(authorizationOf({ ...headers, authorization: 'Bearer key' })).toBe('Bearer key');
    expect(authorizationOf({ ...headers, authorization: 'Basic eDp5' })).toBe('Session gls_abc');
  });

  test('ignores a cookie without the host prefix behind https', () => {
    const headers = { cookie, 'x-csrf-token': csrf };
    expect(authorizationOf(headers, tls)).toBeUndefined();
    expect(authorizationOf({ ...headers, cookie: `__Host-${cookie.split(' ')[1]}` }, tls)).toBe(
      'Session gls_abc',
    );
  });
});

test('names the cookie by the port of the public address, so that services on one host keep their sessions', () => {
  const request = { headers: {} } as IncomingMessage;
  const [one, other] = ['http://127.0.0.1:8080', 'http://127.0.0.1:8090'] as const;
  const cookie = writeSessionCookie(request, one, 'gls_abc', 60).split(';')[0]!;
  expect(readSessionCookie({ headers: { cookie } } as IncomingMessage, one)).toBe('gls_abc');
  expect(readSessionCookie({ headers: { cookie } } as IncomingMessage, other)).toBeUndefined();
});
