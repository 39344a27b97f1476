import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listAuditEntries } from '../../src/store/audit-log.ts';
import { revokeApiKey } from '../../src/store/keys.ts';
import { findSession } from '../../src/store/sessions.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { suspendUser } from '../../src/store/users.ts';
import { sweep } from '../../src/sweep/sweep.ts';
import { type Edge, openSessionFixture, type SessionFixture, send, signInWith } from './fixture.ts';

const dayMs = 86_400_000;
const lifetimeMs = 7 * dayMs;
const listUsers = '/gleaner.operator.v1.OperatorService/ListUsers';
const getAccountRpc = '/gleaner.account.v1.AccountService/GetAccount';

describe.each<Edge>(['api', 'gateway'])('browser sessions through the role %s', (edge) => {
  let fixture: SessionFixture;
  let url: string;
  beforeEach(async () => {
    fixture = await openSessionFixture();
    url = await fixture.startProcess(edge);
    return () => fixture.close();
  });

  const session = (headers: Record<string, string>, at = url) =>
    send('GET', `${at}/console/session`, headers);
  const account = (headers: Record<string, string>, at = url) =>
    send('GET', `${at}/v1/account`, headers);
  const signOut = (headers: Record<string, string>, query = '') =>
    send('DELETE', `${url}/console/session${query}`, headers);

  test('have no other methods', async () => {
    const response = await fetch(`${url}/console/session/test`, { method: 'PUT' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
  });

  test('sign in with a key and call REST and RPC with the cookie', async () => {
    const { userId, apiKey } = await fixture.createAccount('user');
    const { headers, response, cookie } = await signInWith(url, apiKey);
    expect(response.setCookie).toMatch(
      /^gleaner_session=gls_[\w-]{43}; Max-Age=691200; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(response.body).toEqual({
      user_id: userId,
      role: 'user',
      name: 'Ann the user',
      expires_at: new Date(fixture.jobs.clock.now() + lifetimeMs).toISOString(),
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
      test_csrf_token: expect.stringMatching(/^[\w-]{43}$/),
      scopes: ['read', 'submit'],
      has_ceiling: false,
      mode: 'live',
      operator_role: null,
    });
    expect(JSON.stringify(response.body)).not.toContain(cookie.split('=')[1]);
    expect(await account(headers)).toMatchObject({
      status: 200,
      body: { account: { id: userId } },
    });
    expect(await send('POST', url + getAccountRpc, headers, {})).toMatchObject({
      status: 200,
      body: { account: { id: userId } },
    });
    expect(await session(headers)).toMatchObject({ status: 200, body: response.body });
  });

  test('allow what the key allows and nothing else', async () => {
    const user = await signInWith(url, (await fixture.createAccount('user')).apiKey);
    const operator = await signInWith(url, (await fixture.createAccount('operator')).apiKey);
    expect(operator.response.body).toMatchObject({ role: 'operator', name: 'Ann the operator' });
    expect((await send('POST', url + listUsers, operator.headers, {})).status).toBe(200);
    expect((await account(operator.headers)).status).toBe(403);
    expect((await send('POST', url + listUsers, user.headers, {})).status).toBe(403);
    // A session that creates sessions would never end.
    expect((await send('POST', `${url}/console/session`, user.headers)).status).toBe(403);
  });

  test('need the CSRF token of the session on every request', async () => {
    const { cookie, csrf } = await signInWith(url, (await fixture.createAccount('user')).apiKey);
    const other = await signInWith(url, (await fixture.createAccount('user')).apiKey);
    for (const headers of [
      { cookie },
      { cookie, 'x-csrf-token': 'x' },
      { cookie, 'x-csrf-token': other.csrf },
    ]) {
      expect((await account(headers)).status).toBe(401);
      expect((await send('POST', url + getAccountRpc, headers, {})).status).toBe(401);
      expect(
        (await send('POST', `${url}/v1/account/keys`, headers, { name: 'stolen' })).status,
      ).toBe(401);
      expect(await signOut(headers)).toMatchObject({ status: 401, setCookie: null });
    }
    expect((await account({ cookie, 'x-csrf-token': csrf })).status).toBe(200);
  });

  test('never authenticate a request of another site', async () => {
    const { apiKey } = await fixture.createAccount('user');
    const { headers } = await signInWith(url, apiKey);
    const foreign = [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.test' },
      { origin: 'https://app.example' },
      { origin: 'https://app.example', 'sec-fetch-site': 'same-site' },
      { origin: 'null' },
    ] as Record<string, string>[];
    for (const marks of foreign) {
      expect((await account({ ...headers, ...marks })).status).toBe(401);
      expect((await session({ ...headers, ...marks })).status).toBe(403);
      expect((await signOut({ ...headers, ...marks })).status).toBe(403);
      const signIn = { ...marks, authorization: `Bearer ${apiKey}` };
      expect((await send('POST', `${url}/console/session`, signIn)).status).toBe(403);
    }
    expect((await account({ ...headers, origin: url })).status).toBe(200);
    expect((await account({ ...headers, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  test('start with a new token, and end the session of an earlier cookie', async () => {
    const { apiKey } = await fixture.createAccount('user');
    const attacker = await signInWith(url, (await fixture.createAccount('user')).apiKey);
    const victim = await signInWith(url, apiKey, { cookie: attacker.cookie });
    expect(victim.cookie).not.toBe(attacker.cookie);
    expect((await account(attacker.headers)).status).toBe(401);
    // A token that no sign-in created is not adopted.
    const planted = await signInWith(url, apiKey, { cookie: 'gleaner_session=gls_planted' });
    expect(planted.cookie).not.toContain('planted');
    expect((await session({ cookie: 'gleaner_session=gls_planted' })).status).toBe(401);
  });

  test('expire after a week', async () => {
    const { headers } = await signInWith(url, (await fixture.createAccount('user')).apiKey);
    await fixture.jobs.clock.advance(lifetimeMs - 1);
    expect((await account(headers)).status).toBe(200);
    await fixture.jobs.clock.advance(1);
    for (const ageMs of [0, dayMs]) {
      await fixture.jobs.clock.advance(ageMs);
      await sweep(fixture.jobs.context);
      expect(await account(headers)).toMatchObject({
        status: 401,
        body: { detail: 'The session has expired. Sign in again.' },
      });
    }
    await fixture.jobs.clock.advance(1);
    await sweep(fixture.jobs.context);
    expect(await account(headers)).toMatchObject({
      status: 401,
      body: { detail: 'The session has ended. Sign in again.' },
    });
  });

  test('expire with their key', async () => {
    const now = fixture.jobs.clock.now();
    const { headers, response } = await signInWith(
      url,
      (await fixture.createAccount('user', now + dayMs)).apiKey,
    );
    expect(response.body.expires_at).toBe(new Date(now + dayMs).toISOString());
    expect(response.setCookie).toContain(`Max-Age=${(2 * dayMs) / 1000};`);
    await fixture.jobs.clock.advance(dayMs);
    for (const ageMs of [0, dayMs]) {
      await fixture.jobs.clock.advance(ageMs);
      await sweep(fixture.jobs.context);
      expect((await account(headers)).body.detail).toBe('The API key has expired.');
    }
  });

  test('end when their key is revoked and pause while their user is suspended', async () => {
    const { store } = fixture.jobs.context;
    const { userId, keyId, apiKey } = await fixture.createAccount('user');
    const { headers } = await signInWith(url, apiKey);
    await suspendUser(store, userId, fixture.jobs.clock.now());
    expect((await account(headers)).body.detail).toBe('The account is suspended.');
    await suspendUser(store, userId, null);
    expect((await account(headers)).status).toBe(200);
    await revokeApiKey(store, keyId, fixture.jobs.clock.now());
    expect((await account(headers)).body.detail).toBe('The API key has been revoked.');
    expect((await session(headers)).status).toBe(401);
  });

  test('end at sign-out, in one browser or everywhere', async () => {
    const { apiKey } = await fixture.createAccount('user');
    const [one, two, three] = [
      await signInWith(url, apiKey),
      await signInWith(url, apiKey),
      await signInWith(url, apiKey),
    ];
    const stranger = await signInWith(url, (await fixture.createAccount('user')).apiKey);
    expect(await signOut(one!.headers)).toMatchObject({
      status: 204,
      setCookie: 'gleaner_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict',
    });
    expect((await account(one!.headers)).status).toBe(401);
    expect((await account(two!.headers)).status).toBe(200);
    expect((await signOut(two!.headers, '?everywhere=true')).status).toBe(204);
    for (const { headers } of [two!, three!]) expect((await account(headers)).status).toBe(401);
    expect((await account(stranger.headers)).status).toBe(200);
    expect((await account({ authorization: `Bearer ${apiKey}` })).status).toBe(200);
    // Signing out of an ended session deletes the cookie.
    expect(await signOut(one!.headers)).toMatchObject({
      status: 204,
      setCookie: expect.stringContaining('Max-Age=0'),
    });
  });

  test('are limited to 20 per account', async () => {
    const { apiKey } = await fixture.createAccount('user');
    const browsers = [];
    for (let count = 0; count < 21; count++) {
      await fixture.jobs.clock.advance(1_000);
      browsers.push(await signInWith(url, apiKey));
    }
    expect((await account(browsers[0]!.headers)).status).toBe(401);
    for (const { headers } of [browsers[1]!, browsers[20]!])
      expect((await account(headers)).status).toBe(200);
  });

  test('hold in every process, and an API key works as before', async () => {
    const { apiKey } = await fixture.createAccount('user');
    const other = await fixture.startProcess(edge === 'api' ? 'gateway' : 'api');
    const { headers } = await signInWith(url, apiKey);
    expect((await account(headers, other)).status).toBe(200);
    expect((await account({ authorization: `Bearer ${apiKey}` }, other)).status).toBe(200);
    expect(await account({ authorization: 'Bearer unknown' })).toMatchObject({
      status: 401,
      body: { detail: 'The API key is not valid.' },
    });
    expect(await account({})).toMatchObject({
      status: 401,
      body: { detail: 'The API key is missing: send the header Authorization: Bearer <key>.' },
    });
  });

  test('are recorded in the audit log with the addresses of their browser', async () => {
    const { userId, apiKey } = await fixture.createAccount('user');
    const { headers } = await signInWith(url, apiKey, { 'x-forwarded-for': '203.0.113.7' });
    await send('POST', `${url}/v1/account/keys`, headers, { name: 'ci' });
    await signOut(headers, '?everywhere=true');
    const { items } = await listAuditEntries(
      fixture.jobs.context.store,
      { actorId: userId },
      { limit: 10 },
    );
    const last = edge === 'api' ? '127.0.0.1' : '127.0.0.1, 127.0.0.1';
    expect(items.map(({ action, source }) => [action, source]).toSorted()).toEqual([
      ['CreateApiKey', last],
      ['CreateSession', `203.0.113.7, ${last}`],
      ['EndSession', last],
    ]);
  });

  test('refuse an unknown key and report no session without a cookie', async () => {
    const refused = await send('POST', `${url}/console/session`, {
      authorization: 'Bearer unknown',
    });
    expect(refused).toMatchObject({ status: 401, setCookie: null });
    expect(await send('POST', `${url}/console/session`)).toMatchObject({
      status: 401,
      setCookie: null,
    });
    expect(await session({})).toEqual({ status: 204, body: null, setCookie: null });
  });
});

describe('browser sessions over a restart', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gleaner-sessions-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('remain signed in, and the data file does not contain the token', async () => {
    const path = join(folder, 'data.sqlite');
    const before = await openSessionFixture(openSqliteStore({ path }));
    const { apiKey } = await before.createAccount('user');
    const { headers, cookie } = await signInWith(await before.startProcess('api'), apiKey);
    const token = cookie.split('=')[1]!;
    expect(await findSession(before.jobs.context.store, token)).toBeNull();
    await before.close();
    const after = await openSessionFixture(openSqliteStore({ path }));
    const url = await after.startProcess('api');
    expect((await send('GET', `${url}/v1/account`, headers)).status).toBe(200);
    await after.close();
  });
});
