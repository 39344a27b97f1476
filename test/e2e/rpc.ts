import { join } from 'node:path';
import { status as codes, type ServiceError } from '@grpc/grpc-js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { plainIds } from '../../sandbox/mkta/ids.ts';
import { newId } from '../../src/base/id.ts';
import { createGrpcClient, type GrpcClient, readFault } from '../support/rpc/grpc.ts';
import { sendJson } from '../support/service/api.ts';
import { root, run } from '../support/service/service.ts';
import type { Place } from './place.ts';

const mkta = 'gleaner.mkta.v1.MktaService';
const accounts = 'gleaner.account.v1.AccountService';
const operators = 'gleaner.operator.v1.OperatorService';

/** Defines the cases for RPC on the core's port and on the gateway's port. */
export function rpcCases(at: () => Place): void {
  let grpc: GrpcClient;
  beforeAll(() => {
    grpc = createGrpcClient(at().deployment.settings.GLEANER_GRPC_PORT!);
  });
  afterAll(() => grpc.close());

  const items = (count: number) =>
    plainIds(count).map((id) => ({ item_id: String(id), shop_id: '77' }));
  /** Returns the error of a call that must fail. */
  const failure = async (...call: Parameters<GrpcClient['call']>) => {
    const error: ServiceError = await grpc.call(...call).then(
      (response) => Promise.reject(new Error(`it answered ${JSON.stringify(response)}`)),
      (thrown) => thrown,
    );
    return { code: error.code, details: error.details, fault: readFault(error) };
  };

  test('a plain gRPC client submits and approves a job, and reads its results', async () => {
    const { api, deployment } = at();
    const user = await api.createUser(1_000);
    const submitted = await grpc.call(
      mkta,
      'SubmitVariantSold',
      { country: 'sg', items: items(3) },
      user.key,
    );
    expect(submitted).toMatchObject({
      status: 'awaiting_approval',
      cost: 30,
      total_items: 3,
      total_batches: 1,
    });
    const { job_id: jobId } = submitted;
    const { job } = await grpc.call(
      operators,
      'ApproveJob',
      { job_id: jobId },
      deployment.operatorKey,
    );
    expect(job).toMatchObject({ job_id: jobId, kind: 'variant_sold', market: 'mkta', total: 3 });
    const retrieve = () => grpc.call(mkta, 'RetrieveVariantSold', { job_id: jobId }, user.key);
    await expect
      .poll(async () => (await retrieve()).status, { timeout: 120_000 })
      .toBe('completed');
    expect(await retrieve()).toMatchObject({
      progress: '1/1 batches complete',
      batches: [{ status: 'SUCCESS' }],
    });
    const item = await grpc.call(
      mkta,
      'DownloadVariantSoldItem',
      { job_id: jobId, item_id: items(1)[0]!.item_id },
      user.key,
    );
    expect(JSON.parse(item.data)).toMatchObject({ itemId: items(1)[0]!.item_id, country: 'sg' });
    const { account } = await grpc.call(accounts, 'GetAccount', {}, user.key);
    expect(account).toMatchObject({ id: user.id, balance: 970 });
  });

  test('gRPC errors have the status and, as a detail, the contents of the REST error body', async () => {
    const { api, deployment } = at();
    const user = await api.createUser(20);
    const request = { country: 'sg', items: items(3) };
    expect(await failure(mkta, 'SubmitVariantSold', request, null)).toMatchObject({
      code: codes.UNAUTHENTICATED,
      fault: { code: 'unauthenticated' },
    });
    expect(await failure(accounts, 'GetAccount', {}, 'gl_wrong')).toMatchObject({
      code: codes.UNAUTHENTICATED,
    });
    expect(await failure(mkta, 'SubmitVariantSold', request, user.key)).toMatchObject({
      code: codes.FAILED_PRECONDITION,
      fault: {
        code: 'insufficient_credits',
        quota: { required: 30n, current: 20n, shortfall: 10n },
      },
    });
    const missing = await failure(mkta, 'RetrieveVariantSold', { job_id: newId() }, user.key);
    expect(missing).toMatchObject({ code: codes.NOT_FOUND, fault: { code: 'not_found' } });
    const invalid = await failure(
      mkta,
      'SubmitVariantSold',
      { country: 'xx', items: [] },
      user.key,
    );
    expect(invalid.code).toBe(codes.INVALID_ARGUMENT);
    const paths = invalid.fault!.problems.map(({ location }) =>
      location.map(({ step }) => step.value),
    );
    expect(paths).toEqual(
      expect.arrayContaining([
        ['body', 'country'],
        ['body', 'items'],
      ]),
    );
    expect(await failure(operators, 'ListUsers', {}, user.key)).toMatchObject({
      code: codes.PERMISSION_DENIED,
    });
    expect(await failure(mkta, 'SubmitVariantSold', request, deployment.operatorKey)).toMatchObject(
      {
        code: codes.PERMISSION_DENIED,
        fault: { code: 'forbidden' },
      },
    );
    expect(
      await failure(operators, 'ApproveJob', { job_id: newId() }, deployment.operatorKey),
    ).toMatchObject({
      code: codes.NOT_FOUND,
    });
  });

  test('gRPC accepts an idempotency key as metadata', async () => {
    const user = await at().api.createUser(100);
    const metadata = { idempotency_key: 'by grpc' };
    const submit = (count: number) =>
      grpc.call(
        mkta,
        'SubmitVariantSold',
        { country: 'sg', items: items(count) },
        user.key,
        metadata,
      );
    expect((await submit(2)).job_id).toBe((await submit(2)).job_id);
    await expect(submit(3)).rejects.toMatchObject({ code: codes.FAILED_PRECONDITION });
  });

  test('a revoked key stops working', async () => {
    const user = await at().api.createUser(0);
    const { key_id: keyId, api_key: key } = await grpc.call(
      accounts,
      'CreateApiKey',
      { name: 'spare' },
      user.key,
    );
    await grpc.call(accounts, 'GetAccount', {}, key);
    const { keys } = await grpc.call(accounts, 'ListApiKeys', {}, user.key);
    expect(keys.map(({ name }: { name: string }) => name)).toEqual(['spare', 'test']);
    expect(JSON.stringify(keys)).not.toContain(key);
    await grpc.call(accounts, 'RevokeApiKey', { key_id: keyId }, user.key);
    expect((await failure(accounts, 'GetAccount', {}, key)).code).toBe(codes.UNAUTHENTICATED);
    await grpc.call(accounts, 'GetAccount', {}, user.key);
  });

  test('the health service reports SERVING for the server and each service', async () => {
    const check = (service: string) =>
      grpc.call('grpc.health.v1.Health', 'Check', { service }, null);
    for (const service of ['', mkta, accounts, operators]) {
      expect(await check(service)).toMatchObject({ status: 'SERVING' });
    }
    await expect(check('gleaner.none.v1.None')).rejects.toMatchObject({ code: codes.NOT_FOUND });
  });

  test('buf curl needs no schema because the server supports reflection', async () => {
    const { api, deployment } = at();
    const user = await api.createUser(42);
    const buf = (...parameters: string[]) =>
      run(join(root, 'node_modules/.bin/buf'), ['curl', '--http2-prior-knowledge', ...parameters]);
    const listed = await buf('--list-methods', deployment.grpc);
    expect(listed.stdout.split('\n')).toEqual(
      expect.arrayContaining([
        `${mkta}/SubmitVariantSold`,
        `${accounts}/GetAccount`,
        `${operators}/ApproveJob`,
      ]),
    );
    const authorization = `authorization: Bearer ${user.key}`;
    for (const protocol of ['grpc', 'grpcweb', 'connect']) {
      const url = `${deployment.grpc}/${accounts}/GetAccount`;
      const { code, stdout, stderr } = await buf('--protocol', protocol, '-H', authorization, url);
      expect([code, stderr]).toEqual([0, '']);
      expect(JSON.parse(stdout)).toMatchObject({ account: { id: user.id, balance: '42' } });
    }
    const refused = await buf('--protocol', 'grpc', `${deployment.grpc}/${accounts}/GetAccount`);
    expect([refused.code === 0, refused.stderr]).toEqual([
      false,
      expect.stringContaining('unauthenticated'),
    ]);
    const body = ['-d', '{"items": [{"shop_domain": "toko-7"}]}'];
    const invalid = await buf(
      '-H',
      authorization,
      ...body,
      `${deployment.grpc}/gleaner.mktb.v1.MktbService/SubmitPdpBulk`,
    );
    expect(JSON.parse(invalid.stderr).details).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          type: 'google.rpc.BadRequest',
          debug: { fieldViolations: [expect.objectContaining({ field: 'items[0].product_key' })] },
        }),
        expect.objectContaining({
          type: 'gleaner.fault.v1.Fault',
          debug: expect.objectContaining({ code: 'invalid' }),
        }),
      ]),
    );
  });

  test('the services accept JSON POST requests on both ports, with both spellings of field names', async () => {
    const { api, deployment } = at();
    const { operatorKey, url, grpc: core } = deployment;
    for (const port of [url, core]) {
      const { body } = await sendJson('POST', `${port}/${operators}/CreateUser`, operatorKey, {
        name: 'By JSON',
      });
      const user = { id: body.user.id, key: '' };
      const granted = await sendJson('POST', `${port}/${operators}/GrantCredits`, operatorKey, {
        userId: user.id,
        amount: 7,
      });
      expect([granted.status, granted.body]).toEqual([200, { balance: '7' }]);
      const made = await sendJson('POST', `${port}/${operators}/CreateApiKey`, operatorKey, {
        user_id: user.id,
        name: 'x',
      });
      expect(made.body).toEqual({ keyId: expect.any(String), apiKey: expect.any(String) });
      user.key = made.body.apiKey;
      expect(await api.balance(user)).toBe(7);
      const wrong = await sendJson('POST', `${port}/${operators}/ListUsers`, user.key, {});
      expect([wrong.status, wrong.body.code]).toEqual([403, 'permission_denied']);
      const none = await sendJson('POST', `${port}/${accounts}/GetAccount`, null, {});
      expect([none.status, none.body.code]).toEqual([401, 'unauthenticated']);
      const bad = await sendJson('POST', `${port}/${operators}/GrantCredits`, operatorKey, {
        userId: 'x',
        amount: 1,
      });
      expect([bad.status, bad.body.code]).toEqual([400, 'invalid_argument']);
    }
  });
}
