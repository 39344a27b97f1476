import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient, type Transport } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AccountService } from '../../../gen/gleaner/account/v1/account_pb.ts';
import { OperatorService } from '../../../gen/gleaner/operator/v1/operator_pb.ts';
import { SessionService } from '../../../gen/gleaner/session/v1/session_pb.ts';
import { type JobFixture, openJobFixture } from '../../../test/support/jobs/jobs.ts';
import { createKey } from '../../access/keys.ts';
import { createOperatorKey } from '../../access/operator.ts';
import { createRateLimit } from '../../access/rate-limit.ts';
import { createBodyBudget } from '../../contract/body-budget.ts';
import { deriveLinkSecrets } from '../../links/secrets.ts';
import { listAuditEntries } from '../../store/audit-log.ts';
import { createRpcListener } from '../transport/adapter.ts';
import { type AdmissionTokens, createAdmissionTokens } from '../transport/admission-token.ts';
import { createCoreClient } from '../transport/core-client.ts';
import { createRemoteCore } from '../transport/remote.ts';
import { routeCore } from '../transport/routes.ts';
import { listen } from '../transport/server.ts';
import { type Core, createCore } from './core.ts';

const requestsPerSecond = 3;
const services = [AccountService, OperatorService, SessionService];
const { listApiKeys } = AccountService.method;

let fixture: JobFixture;
let core: Core;
let url: string;
let admissions: AdmissionTokens;
let key: string;
beforeAll(async () => {
  fixture = await openJobFixture();
  const { clock, log } = fixture.context;
  core = createCore(fixture.context, services, {
    rateLimit: createRateLimit({ requestsPerSecond, clock }),
  });
  admissions = createAdmissionTokens({
    secrets: deriveLinkSecrets(['of gateways'], clock),
    clock: clock,
  });
  const server = await listen(
    createRpcListener(routeCore(core, log, admissions), createBodyBudget()),
    '127.0.0.1',
    0,
  );
  url = `http://127.0.0.1:${server.port}`;
  return async () => {
    await server.close();
    await fixture.close();
  };
});

beforeEach(async () => {
  const userId = await fixture.createUser(70);
  const createdAt = fixture.clock.now();
  const about = { userId, role: 'user' as const, name: 'key', createdAt, expiresAt: null };
  key = (await createKey(fixture.context.store, about)).apiKey;
});

const connect = () => createConnectTransport({ baseUrl: url, httpVersion: '1.1' });
const grpc = () => createGrpcTransport({ baseUrl: url });

const ask = (transport: Transport, authorization: string, onHeader?: (headers: Headers) => void) =>
  createClient(AccountService, transport).getAccount(
    {},
    { headers: { authorization }, ...(onHeader ? { onHeader } : {}) },
  );

const refusalOf = (call: Promise<unknown>): Promise<ConnectError> =>
  call.then(
    () => expect.fail('the call was allowed'),
    (error) => ConnectError.from(error),
  );

test('a key has one rate limit over REST, Connect and gRPC, whatever the spelling of its header', async () => {
  const rest = createCoreClient(core);
  const seen: unknown[] = [];
  const note = (headers: Headers) => void seen.push(headers.get('ratelimit'));
  await ask(connect(), `Bearer ${key}`, note);
  await ask(grpc(), `bearer   ${key}`, note);
  const session = await rest.authenticate({ authorization: `BEARER ${key}  ` });
  seen.push(session.headers?.ratelimit);
  expect(seen).toEqual(['"key";r=2;t=1', '"key";r=1;t=1', '"key";r=0;t=1']);

  await expect(rest.authenticate({ authorization: `Bearer  ${key}` })).rejects.toMatchObject({
    code: 'rate_limited',
    headers: { ratelimit: '"key";r=0;t=1', 'x-credits-remaining': '70' },
  });
  for (const transport of [connect(), grpc()]) {
    const { code, metadata } = await refusalOf(ask(transport, `Bearer ${key}`));
    expect([code, metadata.get('retry-after'), metadata.get('ratelimit')]).toEqual([
      Code.ResourceExhausted,
      '1',
      '"key";r=0;t=1',
    ]);
  }
  await fixture.clock.advance(1_000);
  await ask(connect(), `Bearer ${key}`);
});

test('calls of operators and of unknown keys do not count against a key', async () => {
  const operator = await createOperatorKey(fixture.context.store, 'test', fixture.clock.now());
  const operators = createClient(OperatorService, connect());
  for (let turn = 0; turn < 2 * requestsPerSecond; turn += 1) {
    await operators.getWork({}, { headers: { authorization: `Bearer ${operator}` } });
    expect((await refusalOf(ask(connect(), `Bearer unknown-${turn}`))).code).toBe(
      Code.Unauthenticated,
    );
  }
  await ask(connect(), `Bearer ${key}`);
});

test('a gateway in front of the core counts each request once and forwards rejections', async () => {
  const remote = createRemoteCore(url, {
    services,
    admissions,
    stopping: new AbortController().signal,
  });
  const caller = createCoreClient(remote);
  const request = create(listApiKeys.input, {});
  const context = { requestId: 'x', idempotencyKey: undefined, waitMs: 0, ifNoneMatch: undefined };
  const remaining: unknown[] = [];
  for (let turn = 0; turn < requestsPerSecond; turn += 1) {
    const session = await caller.authenticate({ authorization: `Bearer ${key}` });
    const responseHeaders: Record<string, string> = {};
    await session.call(listApiKeys, request, {
      ...context,
      signal: new AbortController().signal,
      responseHeaders,
    });
    remaining.push([session.headers.ratelimit, responseHeaders.ratelimit]);
  }
  expect(remaining).toEqual([
    ['"key";r=3;t=0', '"key";r=2;t=1'],
    ['"key";r=2;t=1', '"key";r=1;t=1'],
    ['"key";r=1;t=1', '"key";r=0;t=1'],
  ]);
  await expect(caller.authenticate({ authorization: `Bearer ${key}` })).rejects.toMatchObject({
    code: 'rate_limited',
    retryAfterMs: 1_000,
    headers: { ratelimit: '"key";r=0;t=1' },
  });
});

test('a gateway counts a request without a call once', async () => {
  const caller = createCoreClient(
    createRemoteCore(url, { services, admissions, stopping: new AbortController().signal }),
  );
  const remaining: unknown[] = [];
  for (let turn = 0; turn < requestsPerSecond; turn += 1) {
    const session = await caller.authenticate({ authorization: `Bearer ${key}` });
    remaining.push((await session.count!()).ratelimit, (await session.count!()).ratelimit);
  }
  expect(remaining).toEqual([
    '"key";r=2;t=1',
    undefined,
    '"key";r=1;t=1',
    undefined,
    '"key";r=0;t=1',
    undefined,
  ]);
  await expect(caller.authenticate({ authorization: `Bearer ${key}` })).rejects.toMatchObject({
    code: 'rate_limited',
  });
});

test.each([
  ['Connect', createConnectTransport],
  ['gRPC', createGrpcTransport],
])('a gateway that forwards %s calls counts each call once', async (_name, createTransport) => {
  const remote = createRemoteCore(url, {
    services,
    admissions,
    stopping: new AbortController().signal,
  });
  const routes = routeCore(remote, fixture.context.log);
  const front = await listen(createRpcListener(routes, createBodyBudget()), '127.0.0.1', 0);
  try {
    const transport = createTransport({
      baseUrl: `http://127.0.0.1:${front.port}`,
      httpVersion: '2',
    });
    const accounts = createClient(AccountService, transport);
    const headers = { authorization: `Bearer ${key}` };
    const seen: unknown[] = [];
    const onHeader = (header: Headers) => void seen.push(header.get('ratelimit'));
    await accounts.getAccount({}, { headers, onHeader });
    await accounts.listApiKeys({}, { headers, onHeader });
    for await (const _part of accounts.exportLedger({}, { headers, onHeader }));
    expect(seen).toEqual(['"key";r=2;t=1', '"key";r=1;t=1', '"key";r=0;t=1']);
    const { code, metadata } = await refusalOf(accounts.listApiKeys({}, { headers }));
    expect([code, metadata.get('ratelimit')]).toEqual([Code.ResourceExhausted, '"key";r=0;t=1']);
  } finally {
    await front.close();
  }
});

describe('the metadata of a gateway', () => {
  const exhausted = async (token: (authorization: string, at: number) => string) => {
    const authorization = `Bearer ${key}`;
    const sessions = createClient(SessionService, connect());
    const call = () =>
      sessions.getSession(
        {},
        {
          headers: {
            authorization,
            'gleaner-admission': token(authorization, fixture.clock.now()),
          },
        },
      );
    for (let turn = 0; turn < 2 * requestsPerSecond; turn += 1) {
      try {
        await call();
      } catch (error) {
        return ConnectError.from(error).code === Code.ResourceExhausted;
      }
    }
    return false;
  };
  const grant = 'gleaner.operator.v1.OperatorService.GrantCredits';
  const signer = (secret: string, now?: number) =>
    createAdmissionTokens({
      secrets: deriveLinkSecrets([secret], fixture.clock),
      clock: { now: () => now ?? fixture.clock.now() },
    });

  test('exempts a check of the key from counting', async () => {
    expect(await exhausted((authorization) => admissions.sign(authorization, ''))).toBe(false);
  });

  test.each<[string, (authorization: string, at: number) => string]>([
    ['that is not signed', () => '1'],
    ['with a method only', () => grant],
    ['signed with another secret', (authorization) => signer('another').sign(authorization, grant)],
    ['signed for another key', () => admissions.sign('Bearer other', grant)],
    [
      'of another time',
      (authorization, at) => signer('of gateways', at - 61_000).sign(authorization, grant),
    ],
    [
      'of another method',
      (authorization) =>
        admissions
          .sign(authorization, '')
          .replace(/^/, 'gleaner.operator.v1.OperatorService.GrantCredits'),
    ],
  ])('%s is ignored', async (_name, token) => {
    expect(await exhausted(token)).toBe(true);
  });

  test('exempts GetAccount only', async () => {
    const authorization = `Bearer ${key}`;
    const headers = { authorization, 'gleaner-admission': admissions.sign(authorization, '') };
    const accounts = createClient(AccountService, connect());
    for (let turn = 0; turn < requestsPerSecond; turn += 1)
      await accounts.listApiKeys({}, { headers });
    expect((await refusalOf(accounts.listApiKeys({}, { headers }))).code).toBe(
      Code.ResourceExhausted,
    );
    expect((await refusalOf(accounts.getAccount({}, { headers }))).code).toBe(
      Code.ResourceExhausted,
    );
  });
});

test('the audit log has at most 5 refusals of a key in a minute', async () => {
  const { store } = fixture.context;
  const refuse = async (authorization: string) =>
    refusalOf(
      createClient(OperatorService, connect()).grantCredits({}, { headers: { authorization } }),
    );
  const refusals = async () =>
    (await listAuditEntries(store, { outcome: 'forbidden' }, { limit: 100, after: null })).items
      .length;
  for (let turn = 0; turn < 20; turn += 1) {
    expect((await refuse(`Bearer ${key}`)).code).toBe(Code.PermissionDenied);
    await fixture.clock.advance(1_000);
  }
  expect(await refusals()).toBe(5);
  await fixture.clock.advance(60_000);
  await refuse(`Bearer ${key}`);
  expect(await refusals()).toBe(6);
});
