import { beforeEach, describe, expect, test } from 'vitest';
import { createKey, type KeyRequest } from '../../src/access/keys.ts';
import { testAccountId } from '../../src/access/principal.ts';
import { revokeApiKey } from '../../src/store/keys.ts';
import { suspendUser } from '../../src/store/users.ts';
import { type Edge, openSessionFixture, type SessionFixture, send, signInWith } from './fixture.ts';

const submitPath = '/v1/mkta/variant_sold_v1/submit';
const request = { country: 'sg', items: [{ item_id: '20000000001', shop_id: '7001' }] };

describe.each<Edge>(['api', 'gateway'])(
  'sessions of live keys in the test account, through the role %s',
  (edge) => {
    let fixture: SessionFixture;
    let url: string;
    beforeEach(async () => {
      fixture = await openSessionFixture();
      url = await fixture.startProcess(edge);
      return () => fixture.close();
    });

    const get = (headers: Record<string, string>, path: string) => send('GET', url + path, headers);
    const open = (headers: Record<string, string>) =>
      send('POST', `${url}/console/session/test`, headers);
    /** Signs in, and returns the headers of requests to both accounts. */
    const signIn = async (apiKey: string) => {
      const { cookie, headers: live, response } = await signInWith(url, apiKey);
      return { live, test: { cookie, 'x-csrf-token': String(response.body.test_csrf_token) } };
    };
    const createUser = async (limits: Partial<KeyRequest> = {}) => {
      const { userId } = await fixture.createAccount('user');
      const { store, clock } = fixture.jobs.context;
      const common = {
        userId,
        role: 'user',
        name: 'limited',
        createdAt: clock.now(),
        expiresAt: null,
      } as const;
      return { userId, ...(await createKey(store, { ...common, ...limits })) };
    };

    test('work on the test account, and the live token on the live one', async () => {
      const { userId, apiKey } = await createUser();
      const { live, test } = await signIn(apiKey);
      expect((await open(live)).status).toBe(204);
      expect((await get(test, '/v1/account')).body.account).toMatchObject({
        id: testAccountId(userId),
        mode: 'test',
      });
      expect((await get(live, '/v1/account')).body.account).toMatchObject({
        id: userId,
        mode: 'live',
      });
      const { body } = await send('POST', url + submitPath, test, request);
      expect((await get(test, '/v1/jobs')).body.jobs).toMatchObject([
        { job_id: body.job_id, mode: 'test', cost: 0 },
      ]);
      expect((await get(live, '/v1/jobs')).body.jobs).toEqual([]);
      expect((await get(live, `/v1/jobs/${body.job_id}`)).status).toBe(404);
      // The same account as for a test key.
      const created = await send('POST', `${url}/v1/account/keys`, live, {
        name: 'ci',
        mode: 'test',
      });
      const bearer = { authorization: `Bearer ${created.body.api_key}` };
      expect((await get(bearer, '/v1/jobs')).body.jobs).toHaveLength(1);
    });

    test('are not accepted before the test account was opened', async () => {
      const { test } = await signIn((await createUser()).apiKey);
      expect(await get(test, '/v1/account')).toMatchObject({
        status: 401,
        body: { detail: 'The user has no test account.' },
      });
    });

    test('have the scopes of their key', async () => {
      const reader = await signIn((await createUser({ scopes: ['read'] })).apiKey);
      await open(reader.live);
      expect((await get(reader.test, '/v1/jobs')).status).toBe(200);
      expect((await send('POST', url + submitPath, reader.test, request)).status).toBe(403);
      expect(
        (await send('POST', `${url}/v1/account/keys`, reader.test, { name: 'more' })).status,
      ).toBe(403);
      const writer = await signIn((await createUser({ scopes: ['submit'] })).apiKey);
      await open(writer.live);
      expect((await send('POST', url + submitPath, writer.test, request)).status).toBe(202);
      expect((await get(writer.test, '/v1/jobs')).status).toBe(403);
    });

    test('keep the limits of their key: a ceiling creates no keys, and no key of theirs is live', async () => {
      const limited = await signIn((await createUser({ creditCeiling: 5 })).apiKey);
      await open(limited.live);
      expect(
        (await send('POST', `${url}/v1/account/keys`, limited.test, { name: 'more' })).status,
      ).toBe(403);
      const { test, live } = await signIn((await createUser()).apiKey);
      await open(live);
      expect(
        (await send('POST', `${url}/v1/account/keys`, test, { name: 'x', mode: 'live' })).status,
      ).toBe(403);
      const { body } = await send('POST', `${url}/v1/account/keys`, test, { name: 'x' });
      expect(body.api_key).toMatch(/^gl_test_/);
    });

    test('end with the key, the sign-out, and the suspension of the user', async () => {
      const { store, clock } = fixture.jobs.context;
      const { userId, keyId, apiKey } = await createUser();
      const { live, test } = await signIn(apiKey);
      await open(live);
      await suspendUser(store, userId, clock.now());
      expect((await get(test, '/v1/account')).body.detail).toBe('The account is suspended.');
      await suspendUser(store, userId, null);
      const second = await signIn(apiKey);
      expect((await send('DELETE', `${url}/console/session?everywhere=true`, test)).status).toBe(
        204,
      );
      for (const headers of [live, test, second.live, second.test])
        expect((await get(headers, '/v1/account')).status).toBe(401);
      const third = await signIn(apiKey);
      await revokeApiKey(store, keyId, clock.now());
      expect((await get(third.test, '/v1/account')).body.detail).toBe(
        'The API key has been revoked.',
      );
    });

    test('exist for users with a live key only', async () => {
      const operator = await signInWith(url, (await fixture.createAccount('operator')).apiKey);
      expect(operator.response.body.test_csrf_token).toBeNull();
      expect((await open(operator.headers)).status).toBe(403);
      const { live } = await signIn((await createUser()).apiKey);
      const { body } = await send('POST', `${url}/v1/account/keys`, live, {
        name: 'ci',
        mode: 'test',
      });
      const tester = await signInWith(url, body.api_key);
      expect(tester.response.body).toMatchObject({ mode: 'test', test_csrf_token: null });
      expect((await open({})).status).toBe(401);
    });

    test('are refused by a service without a sandbox', async () => {
      const { live } = await signIn((await createUser()).apiKey);
      fixture.jobs.context.settings.sandbox = false;
      expect((await open(live)).body.detail).toContain('GLEANER_SANDBOX=off');
    });
  },
);
