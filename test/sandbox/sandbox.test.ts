import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testAccountId } from '../../src/access/principal.ts';
import { openStacks, stacks } from '../support/engines/engines.ts';
import { openSandboxFixture, type SandboxFixture } from './fixture.ts';
import { commonIds, reservedItems } from './outcomes.ts';

const submitPath = '/v1/mktb/pdp/bulk/submit';
const pages = (...digits: string[]) => ({
  items: digits.map((end) => ({ shop_domain: 'toko-7', product_key: `barang-${end}` })),
});
const variantSold = '/v1/mkta/variant_sold_v1/submit';
const variants = (...digits: string[]) => ({
  country: 'sg',
  items: digits.map((end) => ({ item_id: `20000000${end}`, shop_id: '7001' })),
});

describe.each(await openStacks(stacks))(
  'the sandbox on the $title stack',
  ({ distributed, engines }) => {
    let fixture: SandboxFixture;
    beforeAll(async () => {
      if (engines !== null) fixture = await openSandboxFixture(distributed, engines);
    });
    afterAll(() => fixture?.stop());

    describe.skipIf(engines === null)('with a test key', () => {
      // Most of their time is the delay of a reserved id.
      test.concurrent.each(reservedItems)(
        '$name: reserved ids have their documented outcomes, without requests to live origins',
        async ({ path, request, other = {}, soldOut }) => {
          const { tester, submit, ended, codes, liveRequests } = fixture;
          const before = liveRequests();
          const expected = commonIds.map(({ digits, code }) => ({
            digits,
            code: digits in other ? other[digits]! : code,
          }));
          if (soldOut !== undefined) expected.push({ digits: soldOut, code: null });
          const id = await submit(tester, path, request(expected.map(({ digits }) => digits)));
          const job = await ended(tester, id);
          const found = await codes(tester, id);
          expect(found.map((code, index) => ({ digits: expected[index]!.digits, code }))).toEqual(
            expected,
          );
          expect(job).toMatchObject({
            mode: 'test',
            cost: 0,
            charged: 0,
            refunded: 0,
            unit_price: 0,
          });
          expect(liveRequests()).toBe(before);
        },
      );

      test('a job of an approval kind is approved by itself, or as its first unit says', async () => {
        const { tester, submit, ended, job, call } = fixture;
        const approved = await submit(tester, variantSold, variants('001', '990', '991'));
        const rejected = await submit(tester, variantSold, variants('990', '001'));
        const waiting = await submit(tester, variantSold, variants('991', '001'));
        expect(await ended(tester, approved)).toMatchObject({ status: 'completed', success: 3 });
        expect(await ended(tester, rejected)).toMatchObject({
          status: 'rejected',
          reason: 'The sandbox rejects this job.',
        });
        expect((await job(tester, waiting)).status).toBe('awaiting_approval');
        expect((await call(tester, 'POST', `/v1/jobs/${waiting}/cancel`, {})).status).toBe(200);
        expect(await ended(tester, waiting)).toMatchObject({ refunded: 0 });
      });

      test('a reread of kept pages is a test job, and its failed units are those of the first', async () => {
        const { tester, submit, ended, call } = fixture;
        const id = await submit(tester, `${submitPath}?keep_pages=1d`, pages('001', '800'));
        expect(await ended(tester, id)).toMatchObject({ kept_pages: { kept: 2, missed: 0 } });
        const { status, body } = await call(tester, 'POST', `/v1/jobs/${id}/reread`, {});
        expect([status, body]).toMatchObject([202, { mode: 'test', cost: 0, reread_of: id }]);
        expect(await ended(tester, body.job_id)).toMatchObject({ success: 1, failed: 1 });
        const compared = await call(tester, 'GET', `/v1/jobs/${body.job_id}/differences`);
        expect(compared.body).toMatchObject({ gained: 0, changed: 0, lost: 0, equal: 1 });
      });

      test('a retry is a test job, and nothing is in the ledger', async () => {
        const { tester, api, submit, ended, call } = fixture;
        const source = await submit(tester, submitPath, pages('123', '902'));
        await ended(tester, source);
        const { status, body } = await call(tester, 'POST', `/v1/jobs/${source}/retry`, {});
        expect({ status, body }).toMatchObject({ status: 202 });
        const retryId = body.job?.job_id ?? body.job_id;
        expect(await ended(tester, retryId)).toMatchObject({ mode: 'test', total: 1, cost: 0 });
        expect(await api.balance(tester)).toBe(0);
        expect(await api.ledger(tester)).toEqual([]);
        const charges = (await api.ledger(fixture.user)).filter(({ type }) => type !== 'grant');
        expect(charges).toEqual([]);
      });

      test.each([
        ['a store on the loopback interface', (url: string) => url, 'address_refused'],
        ['a store on the metadata address', () => 'http://169.254.169.254/', 'address_refused'],
        ['a real store', () => 'https://store.example/collections/lamps', null],
      ])('%s is never contacted', async (_name, urlOf, code) => {
        const { tester, submit, ended, codes, live, liveRequests } = fixture;
        const before = liveRequests();
        const url = urlOf(`${live.address('mktf', '')}/collections/lamps`);
        const id = await submit(tester, '/v1/mktf/search/bulk/submit', { items: [{ url }] });
        await ended(tester, id);
        expect(await codes(tester, id)).toEqual([code]);
        expect(liveRequests()).toBe(before);
      });
    });

    describe.skipIf(engines === null)('with a live key', () => {
      test('reserved ids have no meaning: the job reads the live origins and is charged', async () => {
        const { user, api, submit, ended, liveRequests } = fixture;
        const [before, balance] = [liveRequests(), await api.balance(user)];
        const id = await submit(user, submitPath, pages('123', '990'));
        expect(await ended(user, id)).toMatchObject({ mode: 'live', success: 2 });
        expect(liveRequests()).toBeGreaterThan(before);
        expect(await api.balance(user)).toBeLessThan(balance);
      });

      test('a job is not found by a key of the other mode', async () => {
        const { user, tester, submit, ended, call } = fixture;
        const [mine, test] = [
          await submit(user, submitPath, pages('124')),
          await submit(tester, submitPath, pages('124')),
        ];
        await Promise.all([ended(user, mine), ended(tester, test)]);
        for (const [caller, id] of [
          [tester, mine],
          [user, test],
        ] as const) {
          // Before the calls below, which the audit log of the export would name.
          const { url } = fixture.deployment;
          const exported = await fetch(`${url}/v1/account/export`, {
            headers: { authorization: `Bearer ${caller.key}` },
          });
          expect(await exported.text()).not.toContain(id);
          for (const [method, path] of [
            ['GET', `/v1/jobs/${id}`],
            ['GET', `/v1/jobs/${id}/units`],
            ['GET', `/v1/jobs/${id}/files`],
            ['GET', `/v1/jobs/${id}/results`],
            ['POST', `/v1/jobs/${id}/retry`],
            ['POST', `/v1/jobs/${id}/cancel`],
            ['GET', `/v1/mktb/pdp/bulk/retrieve/${id}`],
            ['GET', `/v1/mktb/pdp/bulk/download/${id}`],
          ] as const) {
            const { status } = await call(caller, method, path, method === 'POST' ? {} : undefined);
            expect({ path, status }).toEqual({ path, status: 404 });
          }
          const listed = (await call(caller, 'GET', '/v1/jobs')).body.jobs;
          expect(listed.map((job: { job_id: string }) => job.job_id)).not.toContain(id);
        }
      });

      test('lists and revokes test keys, and creates them', async () => {
        const { user, call } = fixture;
        const created = await call(user, 'POST', '/v1/account/keys', { name: 'own', mode: 'test' });
        const { api_key: key, key_id: keyId } = created.body;
        expect(key).toMatch(/^gl_test_/);
        const account = await call({ id: '', key }, 'GET', '/v1/account');
        expect(account.body.account).toMatchObject({
          id: testAccountId(user.id),
          mode: 'test',
          live_account_id: user.id,
          balance: 0,
        });
        const listed = (await call(user, 'GET', '/v1/account/keys')).body.keys;
        const modes = Object.fromEntries(
          listed.map((each: { key_id: string; mode: string; prefix: string }) => [
            each.key_id,
            each,
          ]),
        );
        expect(modes[keyId]).toMatchObject({ mode: 'test', prefix: key.slice(0, 12) });
        const seen = (await call({ id: '', key }, 'GET', '/v1/account/keys')).body.keys;
        expect(new Set(seen.map((each: { mode: string }) => each.mode))).toEqual(new Set(['test']));
        const live = await call({ id: '', key }, 'POST', '/v1/account/keys', {
          name: 'x',
          mode: 'live',
        });
        expect(live.status).toBe(403);
        expect((await call(user, 'DELETE', `/v1/account/keys/${keyId}`)).status).toBe(200);
        expect((await call({ id: '', key }, 'GET', '/v1/account')).status).toBe(401);
      });
    });

    describe.skipIf(engines === null)('for operators', () => {
      test('lists live jobs unless test jobs are requested', async () => {
        const { user, tester, api, submit, ended } = fixture;
        const test = await submit(tester, submitPath, pages('125'));
        await ended(tester, test);
        const ids = async (request: object): Promise<string[]> =>
          ((await api.operatorJobs('ListJobs', request)).jobs ?? []).map(
            (job: { jobId: string }) => job.jobId,
          );
        expect(await ids({})).not.toContain(test);
        expect(await ids({ mode: 'live' })).not.toContain(test);
        expect(await ids({ user_id: user.id })).not.toContain(test);
        for (const request of [
          { mode: 'test' },
          { mode: 'test', user_id: user.id },
          { mode: 'test', search: 'test@example' },
          { user_id: tester.id },
          { search: test },
        ])
          expect({ request, ids: await ids(request) }).toEqual({
            request,
            ids: expect.arrayContaining([test]),
          });
        const { users } = await api.operator('ListUsers', {});
        expect(users.map(({ id }: { id: string }) => id)).not.toContain(tester.id);
      });

      test('a test account cannot get credits, and follows the suspension of its user', async () => {
        const { user, tester, api, call } = fixture;
        for (const [method, request] of [
          ['GrantCredits', { user_id: tester.id, amount: 5 }],
          ['SuspendUser', { user_id: tester.id, suspended: true }],
          ['DeleteUser', { user_id: tester.id }],
        ] as const)
          expect((await api.tryOperator(method, request)).body.code).toBe('failed_precondition');
        await api.operator('SuspendUser', { user_id: user.id, suspended: true });
        expect((await call(tester, 'GET', '/v1/jobs')).status).toBe(401);
        await api.operator('SuspendUser', { user_id: user.id, suspended: false });
        expect((await call(tester, 'GET', '/v1/jobs')).status).toBe(200);
      });

      test('the statistics of origins and of drift have no test pages, and the audit finds no problem', async () => {
        const { api, deployment, live, tester, submit, ended } = fixture;
        await ended(
          tester,
          await submit(tester, '/v1/mkte/pdp/bulk/submit', {
            items: [{ asin: 'B0GLN01123', country: 'us' }],
          }),
        );
        const { origins = [] } = await api.operator('ListOrigins', {});
        const known = new Set(Object.values(live.config).flatMap((entry) => Object.values(entry)));
        for (const { origin } of origins) expect(known).toContain(origin);
        expect(await deployment.audit()).toMatchObject({ problems: [] });
      });

      test('GLEANER_SANDBOX=off refuses test keys and their jobs', async () => {
        const { api, user, tester, deployment, call } = fixture;
        await deployment.restart({ GLEANER_SANDBOX: 'off' });
        const refused = { message: 'This service has no sandbox (GLEANER_SANDBOX=off).' };
        const created = await api.tryOperator('CreateApiKey', {
          user_id: user.id,
          name: 'x',
          mode: 'test',
        });
        expect(created).toMatchObject({ status: 403, body: refused });
        const submitted = await call(tester, 'POST', submitPath, pages('123'));
        expect(submitted.status).toBe(403);
        await deployment.restart({ GLEANER_SANDBOX: 'on' });
      });
    });
  },
);
