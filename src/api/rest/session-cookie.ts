import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { parseCookie, stringifySetCookie } from 'cookie';

/** Request header that proves that a page of this service sent the request: the session's CSRF token. */
const csrfHeader = 'x-csrf-token';

/** Returns the token of the session cookie that a browser sent. */
export function readSessionCookie(request: IncomingMessage, publicUrl: string): string | undefined {
  const token = parseCookie(request.headers.cookie ?? '')[
    cookieName(publicUrl, isSecure(request, publicUrl))
  ];
  return token !== undefined && /^[\x21-\x7e]{1,512}$/.test(token) ? token : undefined;
}

/** Returns the Set-Cookie header that stores a session for `maxAgeSeconds`, or deletes it for 0. */
export function writeSessionCookie(
  request: IncomingMessage,
  publicUrl: string,
  token: string,
  maxAgeSeconds: number,
): string {
  const secure = isSecure(request, publicUrl);
  return stringifySetCookie({
    name: cookieName(publicUrl, secure),
    value: token,
    httpOnly: true,
    sameSite: 'strict',
    secure,
    path: '/',
    maxAge: maxAgeSeconds,
  });
}

/** Purpose of a CSRF token: requests to the account of the session, or to the test account of its user. */
type Purpose = 'csrf' | 'csrf test';

/**
 * Returns the CSRF token of a session. Scripts of other sites cannot read it, and it does not reveal the
 * session. It selects the account, so that a request cannot reach another one than its page shows.
 */
export function deriveCsrfToken(token: string, purpose: Purpose = 'csrf'): string {
  return createHash('sha256').update(`${purpose} ${token}`).digest('base64url');
}

/**
 * Authenticates a request by its session cookie: replaces the Authorization header. An API key takes
 * precedence. The cookie of a request without the session's CSRF token, or from another site, is ignored.
 */
export function applySessionCookie(request: IncomingMessage, publicUrl: string): void {
  const { headers } = request;
  if (headers.cookie === undefined || headers[csrfHeader] === undefined) return;
  if (/^Bearer /i.test(headers.authorization ?? '')) return;
  const token = readSessionCookie(request, publicUrl);
  if (token === undefined || !isSameOrigin(request, publicUrl)) return;
  const given = String(headers[csrfHeader]);
  if (equal(given, deriveCsrfToken(token))) headers.authorization = `Session ${token}`;
  else if (equal(given, deriveCsrfToken(token, 'csrf test'))) headers.authorization = `TestSession ${token}`;
}

/**
 * Returns false for a request that a page of another origin sent: by Sec-Fetch-Site, or by Origin where a
 * browser sends none, such as over plain HTTP.
 */
export function isSameOrigin({ headers }: IncomingMessage, publicUrl: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const { origin } = headers;
  if (origin === undefined) return true;
  if (!URL.canParse(origin)) return false;
  // A proxy may replace the Host header.
  return new URL(origin).host === headers.host || origin === new URL(publicUrl).origin;
}

/** Returns true if the browser uses https: the public address says so, or the proxy in front. */
function isSecure({ headers }: IncomingMessage, publicUrl: string): boolean {
  const protocol = String(headers['x-forwarded-proto'] ?? '')
    .split(',')[0]!
    .trim();
  return publicUrl.startsWith('https:') || protocol === 'https';
}

/**
 * Returns the name of the cookie. The prefix makes browsers reject a cookie that another host of the domain
 * sets. Browsers send cookies to all ports of a host: that of the public address keeps its services apart.
 */
function cookieName(publicUrl: string, secure: boolean): string {
  const { port } = new URL(publicUrl);
  return `${secure ? '__Host-' : ''}gleaner_session${port === '' ? '' : `_${port}`}`;
}

function equal(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
