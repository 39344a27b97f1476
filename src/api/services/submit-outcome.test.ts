import { create, type DescMethod, type MessageInitShape } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SubmitOutcome } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { MktaService } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { createKey } from '../../access/keys.ts';
import { createRateLimit } from '../../access/rate-limit.ts';
import { createBodyBudget } from '../../contract/body-budget.ts';
import type { KeyScope } from '../../contract/permission.ts';
import { services } from '../../contract/services.ts';
import { reject } from '../../jobs/steps/decide.ts';
import { deriveLinkSecrets } from '../../links/secrets.ts';
import { revokeApiKey } from '../../store/keys.ts';
import { createRpcListener } from '../transport/adapter.ts';
import { createAdmissionTokens } from '../transport/admission-token.ts';
import { type CoreClient, createCoreClient } from '../transport/core-client.ts';
import { createRemoteCore } from '../transport/remote.ts';
import { routeCore } from '../transport/routes.ts';
import { type ListeningServer, listen } from '../transport/server.ts';
import { createCore } from './core.ts';
import type { Call } from './handlers.ts';

const declared = services.filter(({ typeName }) => !/mkt[b-f]|sites/.test(typeName));
const { submitGetPc, submitSearchItems, submitVariantSold } = MktaService.method;
const page = { region: 'sg', itemId: '4', shopId: '7' };
const listing = 'https://shopee.sg/search?keyword=lamp';
const waitMs = 60_000;

let fixture: JobFixture;
let server: ListeningServer;
let front: ListeningServer;
let stopping: AbortController;
let callers: Record<'a core' | 'a gateway', CoreClient>;
let authorization: string;
let userId: string;

const addressOf = ({ port }: ListeningServer) => `http://127.0.0.1:${port}`;

async function createAuthorization(scopes: readonly KeyScope[]): Promise<string> {
  const { apiKey } = await createKey(fixture.context.store, {
    userId,
    role: 'user',
    name: 'test',
    createdAt: fixture.clock.now(),
    expiresAt: null,
    scopes: [...scopes],
  });
  return `Bearer ${apiKey}`;
}

beforeEach(async () => {
  fixture = await openJobFixture();
  const { context, clock } = fixture;
  userId = await fixture.createUser(1_000);
  authorization = await createAuthorization(['read', 'submit']);
  stopping = new AbortController();
  const admissions = createAdmissionTokens({
    secrets: deriveLinkSecrets(['of gateways'], clock),
    clock,
  });
  // One request of a user at a time: the clock of the fixture does not advance.
  const rateLimit = createRateLimit({ requestsPerSecond: 1, clock });
  const core = createCore(context, declared, { rateLimit });
  const budget = createBodyBudget();
  server = await listen(
    createRpcListener(routeCore(core, context.log, admissions), budget),
    '127.0.0.1',
    0,
  );
  const remote = createRemoteCore(addressOf(server), {
    services: declared,
    admissions,
    stopping: stopping.signal,
  });
  front = await listen(createRpcListener(routeCore(remote, context.log), budget), '127.0.0.1', 0);
  callers = { 'a core': createCoreClient(core), 'a gateway': createCoreClient(remote) };
});
afterEach(async () => {
  fixture.context.changes.stop();
  await front.close();
  await server.close();
  await fixture.close();
});

/** Members of the responses of submits. */
interface Submitted {
  status: string;
  cost: number;
  taskId: number;
  quote?: object;
  outcome?: SubmitOutcome;
}

/** Submits through a caller. Returns the response and its headers. */
async function send<M extends DescMethod>(
  caller: keyof typeof callers,
  method: M,
  request: MessageInitShape<M['input']>,
  changes: Partial<Pick<Call, 'waitMs' | 'signal' | 'submitOptions' | 'idempotencyKey'>> = {},
) {
  const session = await callers[caller].authenticate({ authorization }, method);
  const responseHeaders: Record<string, string> = {};
  const { signal } = new AbortController();
  const context = {
    requestId: 'r',
    idempotencyKey: undefined,
    signal,
    waitMs,
    ifNoneMatch: undefined,
  };
  const message = create(method.input, request);
  const response = await session.call(method, message, { ...context, ...changes, responseHeaders });
  const submitted = response as unknown as Submitted;
  const { outcome } = submitted;
  return {
    ...submitted,
    outcome: outcome && { item: undefined, record: undefined, ...outcome },
    headers: responseHeaders,
  };
}

const waits = () => fixture.eventually('the submit waits', () => fixture.clock.sleepers() > 0);
const jobs = async () => (await fixture.context.store.jobs.list({ userId }, { limit: 10 })).items;

describe.each(['a core', 'a gateway'] as const)('a submit that waits at %s', (caller) => {
  test('returns the record of its unit, as one request without a tag', async () => {
    const waiting = send(caller, submitGetPc, page);
    await waits();
    fixture.clock.advance(1);
    await fixture.startWorker();
    const { outcome, headers, status, cost } = await waiting;
    expect([status, cost]).toEqual(['pending', 8]);
    expect(outcome).toMatchObject({ status: 'completed', success: 1, failed: 0, refunded: 0 });
    expect(JSON.parse(outcome!.record!)).toMatchObject({
      data: { item: { title: outcome!.item!.title } },
    });
    expect(headers).toMatchObject({ 'x-credits-remaining': '992', 'server-timing': 'wait;dur=1' });
    expect(headers).not.toHaveProperty('etag');
  });

  test('returns why its unit failed, and the refund', async () => {
    fixture.wrapFetch(() => async () => {
      throw new Error('this site is broken');
    });
    await fixture.startWorker();
    const { outcome, headers } = await send(caller, submitGetPc, page);
    expect(outcome).toMatchObject({
      status: 'failed',
      failed: 1,
      refunded: 8,
      code: 'internal',
      item: undefined,
      record: undefined,
      message: expect.stringContaining('internal error'),
    });
    expect(headers['x-credits-remaining']).toBe('1000');
  });

  test('returns why a listing failed, whose units have no records', async () => {
    fixture.context.settings.approval = false;
    fixture.wrapFetch(() => async () => {
      throw new Error('this site is broken');
    });
    await fixture.startWorker();
    const { outcome } = await send(caller, submitSearchItems, { urls: [listing] });
    expect(outcome).toMatchObject({
      status: 'failed',
      failed: 1,
      code: 'internal',
      record: undefined,
      message: expect.stringContaining('internal error'),
    });
  });

  test.each([
    ['the time is over', () => fixture.clock.advance(waitMs)],
    ['the core stops', () => fixture.context.changes.stop()],
    ['the gateway stops', () => stopping.abort()],
  ])('returns without an outcome when %s', async (end, happen) => {
    // A core without a gateway has no signal of a stopping gateway.
    if (caller === 'a core' && end === 'the gateway stops') return;
    const waiting = send(caller, submitGetPc, page);
    await waits();
    happen();
    expect(await waiting).toMatchObject({ status: 'pending', cost: 8, outcome: undefined });
    expect(await jobs()).toHaveLength(1);
  });

  test('ends its wait when the caller disconnects, and keeps its job', async () => {
    const abort = new AbortController();
    const waiting = send(caller, submitGetPc, page, { signal: abort.signal }).catch(() => {});
    await waits();
    abort.abort();
    await waiting;
    await fixture.eventually('nobody waits', () => fixture.clock.sleepers() === 0);
    expect(await jobs()).toMatchObject([{ state: 'processing' }]);
  });

  test('returns the record of the first job when it is repeated with its idempotency key', async () => {
    const idempotencyKey = 'order-1';
    const first = await send(caller, submitGetPc, page, { idempotencyKey, waitMs: 0 });
    expect(first.outcome).toBeUndefined();
    fixture.clock.advance(1_000);
    await fixture.startWorker();
    const again = await send(caller, submitGetPc, page, { idempotencyKey });
    expect(again).toMatchObject({ taskId: first.taskId, outcome: { record: expect.any(String) } });
    expect(await jobs()).toHaveLength(1);
  });

  test('waits for the decision on a job that awaits approval', async () => {
    const waiting = send(caller, submitVariantSold, variantSoldRequest(1) as never);
    await waits();
    const [job] = await jobs();
    await reject(fixture.context, job!.id, 'an operator', 'Not now.');
    expect(await waiting).toMatchObject({
      status: 'awaiting_approval',
      outcome: {
        status: 'rejected',
        failed: 1,
        code: 'rejected',
        message: expect.stringContaining('Not now.'),
      },
    });
  });

  test('returns counts without a record for a job with several units', async () => {
    fixture.context.settings.approval = false;
    await fixture.startWorker();
    const { outcome } = await send(caller, submitVariantSold, variantSoldRequest(3) as never);
    expect(outcome).toMatchObject({ status: 'completed', success: 3, record: undefined });
  });

  test('needs a key that may read, and creates no job without one', async () => {
    authorization = await createAuthorization(['submit']);
    await expect(send(caller, submitGetPc, page)).rejects.toMatchObject({ code: 'forbidden' });
    expect(await jobs()).toEqual([]);
  });

  test('returns the quote of a submit that is only validated', async () => {
    const submitOptions = create(SubmitOptionsSchema, { validateOnly: true });
    const { quote, outcome } = await send(caller, submitGetPc, page, { submitOptions });
    expect([quote, outcome]).toMatchObject([{ cost: 8 }, undefined]);
  });

  test('leaves out the record if the key is revoked meanwhile', async () => {
    const waiting = send(caller, submitGetPc, page);
    await waits();
    const [key] = await fixture.context.store.apiKeys.find({ userId }, { newestFirst: true });
    await revokeApiKey(fixture.context.store, key!.id, fixture.clock.now());
    await fixture.startWorker();
    expect(await waiting).toMatchObject({ status: 'pending', outcome: undefined });
  });
});

test.each([
  ['Connect', createConnectTransport],
  ['gRPC', createGrpcTransport],
])('%s clients wait by metadata, at a core and at a gateway', async (_name, transport) => {
  await fixture.startWorker();
  for (const target of [server, front]) {
    fixture.clock.advance(1_000);
    const client = createClient(
      MktaService,
      transport({ baseUrl: addressOf(target), httpVersion: '2' }),
    );
    const headers = { authorization, 'gleaner-wait': '60' };
    expect(await client.submitGetPc(page, { headers })).toMatchObject({
      outcome: { status: 'completed', record: expect.any(String) },
    });
    fixture.clock.advance(1_000);
    const soon = { authorization, 'gleaner-wait': 'soon' };
    await expect(client.submitGetPc(page, { headers: soon })).rejects.toThrow(/number of seconds/);
  }
});
