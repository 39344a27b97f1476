import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  create,
  type DescMethod,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import { timestampDate, timestampMs } from '@bufbuild/protobuf/wkt';
import { parseCookie, stringifySetCookie } from 'cookie';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { type Exchange, sendMethods } from '../../../gateway/request-context.ts';
import { type Session, SessionService } from '../../../gen/gleaner/session/v1/session_pb.ts';
import type { Clock } from '../../base/clock.ts';
import { acceptRequest } from '../../base/connections.ts';
import { sameText } from '../../base/sealing.ts';
import type { Headers } from '../../contract/caller.ts';
import { expiredSessionMs } from '../../contract/expired-session.ts';
import { Fault } from '../../contract/fault.ts';

/**
 * Request header that proves that a page of this service sent the request: the session's CSRF
 * token.
 */
const csrfHeader = 'x-csrf-token';

/** Returns the token of the session cookie that a browser sent. */
export function readSessionCookie(request: IncomingMessage, publicUrl: string): string | undefined {
  const token = parseCookie(request.headers.cookie ?? '')[
    cookieName(publicUrl, isSecure(request, publicUrl))
  ];
  if (token !== undefined && /^[\x21-\x7e]{1,512}$/.test(token)) return token;
  return undefined;
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

/**
 * Purpose of a CSRF token: requests to the account of the session, or to the test account of its
 * user.
 */
type Purpose = 'csrf' | 'csrf test';

/**
 * Returns the CSRF token of a session. Scripts of other sites cannot read it, and it does not
 * reveal the session. It selects the account, so that a request cannot reach another one than its
 * page shows.
 */
export function deriveCsrfToken(token: string, purpose: Purpose = 'csrf'): string {
  return createHash('sha256').update(`${purpose} ${token}`).digest('base64url');
}

/**
 * Authenticates a request by its session cookie: replaces the Authorization header. An API key
 * takes precedence. The cookie of a request without the session's CSRF token, or from another site,
 * is ignored.
 */
export function applySessionCookie(request: IncomingMessage, publicUrl: string): void {
  const { headers } = request;
  if (headers[csrfHeader] === undefined) return;
  if (/^Bearer /i.test(headers.authorization ?? '')) return;
  const token = readSessionCookie(request, publicUrl);
  if (token === undefined || !isSameOrigin(request, publicUrl)) return;
  const csrfToken = String(headers[csrfHeader]);
  if (sameText(csrfToken, deriveCsrfToken(token))) headers.authorization = `Session ${token}`;
  else if (sameText(csrfToken, deriveCsrfToken(token, 'csrf test')))
    headers.authorization = `TestSession ${token}`;
}

/**
 * Returns false for a request that a page of another origin sent: by Sec-Fetch-Site, or by Origin
 * where a browser sends none, such as over plain HTTP.
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
 * Returns the name of the cookie. The prefix makes browsers reject a cookie that another host of
 * the domain sets. Browsers send cookies to all ports of a host, so the port of the public address
 * is part of the name.
 */
function cookieName(publicUrl: string, secure: boolean): string {
  const { port } = new URL(publicUrl);
  return `${secure ? '__Host-' : ''}gleaner_session${port === '' ? '' : `_${port}`}`;
}

/** Calls methods of any role with the credentials of a request's headers. */
export interface SessionCaller {
  call<M extends DescMethod>(
    method: M,
    message: MessageShape<M['input']>,
    headers: Headers,
  ): Promise<MessageShape<M['output']>>;
}

/** Options for serveSession(). */
export interface SessionServing {
  caller: SessionCaller;
  clock: Clock;
  /** Returns the base address of the service. */
  publicUrl: () => string;
}

const path = '/console/session';

const { createSession, getSession, openTestAccount, endSession } = SessionService.method;

/**
 * Serves the sign-in of the console. POST with an API key starts a session and sets its cookie; the
 * session of an earlier cookie ends. GET returns the browser's session, 204 without one. POST to
 * `/test` opens the test account for it. DELETE ends it, or with `everywhere=true` every session of
 * the account. Throws `forbidden` for another site's request, `unauthenticated` otherwise.
 */
export function serveSession({ caller, clock, publicUrl }: SessionServing): RequestHandler {
  const call = <M extends DescMethod>(
    method: M,
    fields: MessageInitShape<M['input']>,
    request: Request,
    token?: string,
  ) => {
    const headers = request.headers as Headers;
    const sent = token === undefined ? headers : { ...headers, authorization: `Session ${token}` };
    return caller.call(method, create<M['input']>(method.input, fields), sent);
  };
  const cookieOf = (request: Request) => readSessionCookie(request, publicUrl());
  const setCookie = (request: Request, response: Response, token: string, seconds: number) =>
    response.setHeader('set-cookie', writeSessionCookie(request, publicUrl(), token, seconds));

  const router = express.Router();
  router.use(path, (request, response, next) => {
    response.setHeader('cache-control', 'no-store');
    (response.locals.exchange as Exchange).route = path;
    if (!isSameOrigin(request, publicUrl()))
      throw new Fault('forbidden', 'Only pages of this service may use its sessions.');
    next();
  });
  router.post(path, async (request, response) => {
    const { session, token } = await call(createSession, {}, request);
    acceptRequest(request);
    const earlier = cookieOf(request);
    // The browser forgets the earlier session in any case; a failure leaves it to its expiry.
    if (earlier !== undefined) await call(endSession, {}, request, earlier).catch(() => {});
    const seconds = Math.floor(
      (timestampMs(session!.expiresAt!) + expiredSessionMs - clock.now()) / 1000,
    );
    setCookie(request, response, token, seconds);
    response.status(201).json(shape(session!, token));
  });
  router.get(path, async (request, response) => {
    const token = cookieOf(request);
    if (token === undefined) {
      response.status(204).end();
      return;
    }
    const { session } = await call(getSession, {}, request, token);
    response.json(shape(session!, token));
  });
  router.post(`${path}/test`, async (request, response) => {
    requireCredentials(request);
    await call(openTestAccount, {}, request);
    response.status(204).end();
  });
  router.delete(path, async (request, response) => {
    requireCredentials(request);
    const everywhere = request.query.everywhere === 'true';
    try {
      await call(endSession, { everywhere }, request);
    } catch (error) {
      // The session has ended already, which is the requested result.
      if (everywhere || Fault.from(error).code !== 'unauthenticated') throw error;
    }
    setCookie(request, response, '', 0);
    response.status(204).end();
  });
  for (const [form, methods] of [
    [path, ['GET', 'POST', 'DELETE']],
    [`${path}/test`, ['POST']],
  ] as const)
    router.all(form, (_request, response) =>
      sendMethods(response.locals.exchange as Exchange, methods),
    );
  return router;
}

/**
 * Throws the fault `unauthenticated` for a request without the session's cookie or CSRF token,
 * which set the header.
 */
function requireCredentials({ headers }: Request): void {
  if (headers.authorization === undefined)
    throw new Fault('unauthenticated', 'The session cookie or its CSRF token is missing.');
}

/** Returns a session in the form that the console expects. */
const shape = (
  { userId, role, mode, name, expiresAt, scopes, operatorRole, creditCeiling }: Session,
  token: string,
) => ({
  user_id: userId,
  role,
  mode,
  name,
  scopes,
  operator_role: operatorRole || null,
  has_ceiling: creditCeiling !== undefined,
  expires_at: timestampDate(expiresAt!).toISOString(),
  csrf_token: deriveCsrfToken(token),
  // CSRF token for the test account. Null if the session has no test account.
  test_csrf_token: role === 'user' && mode === 'live' ? deriveCsrfToken(token, 'csrf test') : null,
});
