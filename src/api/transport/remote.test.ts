import { create, type DescMethod, type Message, type MessageInitShape } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FaultSchema } from '../../../gen/gleaner/fault/v1/fault_pb.ts';
import { JobService } from '../../../gen/gleaner/job/v1/job_pb.ts';
import { SubmitOptionsSchema } from '../../../gen/gleaner/job/v1/submit_options_pb.ts';
import { MktaService } from '../../../gen/gleaner/mkta/v1/mkta_pb.ts';
import {
  type JobFixture,
  openJobFixture,
  variantSoldRequest,
} from '../../../test/support/jobs/jobs.ts';
import { createKey } from '../../access/keys.ts';
import { createBodyBudget } from '../../contract/body-budget.ts';
import { services } from '../../contract/services.ts';
import { deriveLinkSecrets } from '../../links/secrets.ts';
import { createCore } from '../services/core.ts';
import type { Call } from '../services/handlers.ts';
import { createRpcListener } from './adapter.ts';
import { createAdmissionTokens } from './admission-token.ts';
import { createCoreClient } from './core-client.ts';
import { createRemoteCore, type RemoteCore } from './remote.ts';
import { routeCore } from './routes.ts';
import { type ListeningServer, listen } from './server.ts';

const declared = services.filter(({ typeName }) => !/mkt[b-f]|sites/.test(typeName));
const { submitVariantSold, retrieveVariantSold } = MktaService.method;

let fixture: JobFixture;
let core: ListeningServer;
/** A gateway in front of the core. */
let front: ListeningServer;
let stopping: AbortController;
const admissions = createAdmissionTokens({
  secrets: deriveLinkSecrets(['of gateways'], { now: () => 0 }),
  clock: { now: () => 0 },
});
let authorization: string;
let userId: string;

const address = ({ port }: ListeningServer) => `http://127.0.0.1:${port}`;

beforeEach(async () => {
  fixture = await openJobFixture({ approval: false });
  userId = await fixture.createUser(1_000);
  const { apiKey } = await createKey(fixture.context.store, {
    userId,
    role: 'user',
    name: 'test',
    createdAt: fixture.clock.now(),
    expiresAt: null,
  });
  authorization = `Bearer ${apiKey}`;
  stopping = new AbortController();
  const { log } = fixture.context;
  const budget = createBodyBudget();
  core = await listen(
    createRpcListener(routeCore(createCore(fixture.context, declared), log, admissions), budget),
    '127.0.0.1',
    0,
  );
  const remote = createRemoteCore(address(core), {
    services: declared,
    admissions,
    stopping: stopping.signal,
  });
  front = await listen(createRpcListener(routeCore(remote, log), budget), '127.0.0.1', 0);
});
afterEach(async () => {
  fixture.context.changes.stop();
  await front.close();
  await core.close();
  await fixture.close();
});

const submit = async (items: number): Promise<string> =>
  (await fixture.submit(userId, 'SubmitVariantSold', variantSoldRequest(items))).jobId;

/** Calls a method as the gateway does. */
async function call<M extends DescMethod>(
  method: M,
  request: MessageInitShape<M['input']>,
  changes: Partial<
    Pick<Call, 'waitMs' | 'ifNoneMatch' | 'signal' | 'early' | 'submitOptions'>
  > = {},
) {
  const caller = createCoreClient(
    createRemoteCore(address(core), { services: declared, admissions, stopping: stopping.signal }),
  );
  const session = await caller.authenticate({ authorization });
  const responseHeaders: Record<string, string> = {};
  const { signal } = new AbortController();
  const context = {
    requestId: 'r',
    idempotencyKey: undefined,
    signal,
    waitMs: 0,
    ifNoneMatch: undefined,
  };
  const message = create(method.input, request);
  const response = await session.call(method, message, { ...context, ...changes, responseHeaders });
  return {
    credits: Number(session.headers['x-credits-remaining']),
    response: response as unknown as Record<string, unknown>,
    responseHeaders,
  };
}

test('a remote core returns credits and tags: before the charge with the session, after it with the response', async () => {
  const submitted = await call(submitVariantSold, variantSoldRequest(3) as never);
  expect([submitted.credits, submitted.responseHeaders]).toEqual([
    1_000,
    // The fixture has no origins.
    { 'x-credits-remaining': '970', 'x-gleaner-warning': expect.stringContaining('mkta/sg') },
  ]);
  const { responseHeaders } = await call(retrieveVariantSold, {
    jobId: submitted.response.jobId as string,
  });
  expect(responseHeaders).toEqual({
    'x-credits-remaining': '970',
    etag: expect.stringMatching(/^W\/"/),
  });
});

test('calls that wait for a job delay no other call', async () => {
  const jobId = await submit(1);
  const client = createClient(JobService, createGrpcTransport({ baseUrl: address(front) }));
  const clients = createClient(JobService, createGrpcTransport({ baseUrl: address(front) }));
  const headers = { authorization };
  const waits = Array.from({ length: 150 }, (_, index) =>
    (index < 75 ? client : clients).getJob(
      { jobId },
      { headers: { ...headers, 'gleaner-wait': '60' } },
    ),
  );
  const other = createClient(JobService, createGrpcTransport({ baseUrl: address(front) }));
  expect((await other.getJob({ jobId }, { headers })).ended).toBe(false);
  expect(core.connections()).toBe(2);
  stopping.abort();
  expect((await Promise.all(waits)).map(({ ended }) => ended)).toEqual(waits.map(() => false));
});

test('a wait that ends early returns the present state', async () => {
  const jobId = await submit(1);
  const early = new AbortController();
  const waiting = call(
    JobService.method.getJob,
    { jobId },
    { waitMs: 60_000, early: early.signal },
  );
  early.abort();
  expect((await waiting).response).toMatchObject({ jobId, ended: false });
});

test('a remote core gets the options of a submission', async () => {
  const submitOptions = create(SubmitOptionsSchema, { maxCredits: 29 });
  await expect(
    call(submitVariantSold, variantSoldRequest(3) as never, { submitOptions }),
  ).rejects.toMatchObject({
    code: 'max_credits_exceeded',
    quota: { required: 30, current: 1_000 },
  });
});

test('the name of a job is sent percent-encoded, and a gateway forwards it', async () => {
  const name = 'Prices in € 価格 50%';
  const request = variantSoldRequest(1) as never;
  const { response } = await call(submitVariantSold, request, {
    submitOptions: create(SubmitOptionsSchema, { name }),
  });
  const ids = [response.jobId as string];
  for (const server of [core, front]) {
    const client = createClient(MktaService, createGrpcTransport({ baseUrl: address(server) }));
    const headers = {
      authorization,
      'gleaner-name': 'Prices in %E2%82%AC %E4%BE%A1%E6%A0%BC 50%25',
    };
    ids.push((await client.submitVariantSold(request, { headers })).jobId);
    const refused = client.submitVariantSold(request, {
      headers: { authorization, 'gleaner-name': 'a%0Ab' },
    });
    const [fault] = ConnectError.from(await refused.catch(ConnectError.from)).findDetails(
      FaultSchema,
    );
    expect(fault!.problems).toMatchObject([
      {
        location: [{ step: { value: 'header' } }, { step: { value: 'gleaner-name' } }],
        message: 'Input should have no control characters, not "a\\nb"',
      },
    ]);
  }
  for (const id of ids)
    expect((await fixture.context.store.jobs.get(id))!.options).toEqual({ name });
});

test('a gateway forwards the options of a submission, whose problems are listed beside those of the request', async () => {
  const client = createClient(MktaService, createGrpcTransport({ baseUrl: address(front) }));
  const submitWith = async (maxCredits: string, items: object[]) => {
    const headers = { authorization, 'gleaner-max-credits': maxCredits };
    const error = await client
      .submitVariantSold({ country: 'sg', items } as never, { headers })
      .catch(ConnectError.from);
    return (error as ConnectError).findDetails(FaultSchema)[0]!;
  };
  const { items } = variantSoldRequest(3);
  expect(await submitWith('29', items)).toMatchObject({ code: 'max_credits_exceeded' });
  const misspelled = client
    .submitVariantSold({ country: 'sg', items } as never, {
      headers: { authorization, 'gleaner-max-credit': '29' },
    })
    .catch(ConnectError.from);
  expect(((await misspelled) as ConnectError).findDetails(FaultSchema)[0]).toMatchObject({
    code: 'invalid',
    problems: [
      {
        message: 'The metadata "gleaner-max-credit" is unknown. Did you mean gleaner-max-credits?',
        type: 'extra_forbidden',
      },
    ],
  });
  const { code, problems } = await submitWith('-1', []);
  expect(code).toBe('invalid');
  const locs = problems.map(({ location }) => location.map(({ step }) => step.value));
  expect(locs).toEqual([
    ['header', 'gleaner-max-credits'],
    ['body', 'items'],
  ]);
});

test('problems of options that the core finds are located in the metadata, and in the query of REST', async () => {
  const submitOptions = create(SubmitOptionsSchema, { deliverTo: 'nowhere' });
  const request = variantSoldRequest(1) as never;
  await expect(call(submitVariantSold, request, { submitOptions })).rejects.toMatchObject({
    code: 'invalid',
    problems: [{ loc: ['query', 'deliver_to'] }],
  });
  const headers = { authorization, 'gleaner-deliver-to': 'nowhere' };
  for (const server of [core, front]) {
    const client = createClient(MktaService, createGrpcTransport({ baseUrl: address(server) }));
    const error = await client.submitVariantSold(request, { headers }).catch(ConnectError.from);
    const [fault] = (error as ConnectError).findDetails(FaultSchema);
    expect(fault!.problems.map(({ location }) => location.map(({ step }) => step.value))).toEqual([
      ['header', 'gleaner-deliver-to'],
    ]);
  }
});

test('a wait is forwarded and ends when the gateway stops', async () => {
  const jobId = await submit(3);
  const waiting = call(retrieveVariantSold, { jobId }, { waitMs: 60_000 });
  await fixture.eventually('the core waits', () => fixture.clock.sleepers() > 0);
  stopping.abort();
  expect((await waiting).response.status).toBe('processing');
  await fixture.eventually('the core waits no more', () => fixture.clock.sleepers() === 0);
});

test('a wait ends with the job, after its refunds, or when the caller disconnects', async () => {
  const jobId = await submit(3);
  const waiting = call(retrieveVariantSold, { jobId }, { waitMs: 60_000 });
  const abort = new AbortController();
  const given = call(retrieveVariantSold, { jobId }, { waitMs: 60_000, signal: abort.signal });
  await fixture.eventually('both wait', () => fixture.clock.sleepers() === 2);
  abort.abort();
  await expect(given).rejects.toThrow();
  await fixture.eventually('one waits', () => fixture.clock.sleepers() === 1);
  fixture.wrapFetch(() => async () => {
    throw new Error('this site is broken');
  });
  await fixture.startWorker();
  const { response, responseHeaders } = await waiting;
  expect([response.status, responseHeaders['x-credits-remaining']]).toEqual(['failed', '1000']);
});

test('gRPC clients wait by metadata; an invalid value is rejected', async () => {
  const jobId = await submit(3);
  const client = createClient(JobService, createGrpcTransport({ baseUrl: address(core) }));
  const headers: Record<string, string> = { authorization, 'gleaner-wait': '30s' };
  let tag: string | null = null;
  const onHeader = (header: Headers) => {
    tag = header.get('etag');
  };
  const waiting = client.getJob({ jobId }, { headers, onHeader });
  await fixture.eventually('it waits', () => fixture.clock.sleepers() > 0);
  await fixture.startWorker();
  expect(await waiting).toMatchObject({ status: 'completed', ended: true });
  expect(tag).toMatch(/^W\/"/);
  const refused = await client
    .getJob({ jobId }, { headers: { ...headers, 'gleaner-wait': 'soon' } })
    .catch(ConnectError.from);
  const [fault] = (refused as ConnectError).findDetails(FaultSchema);
  expect(fault).toMatchObject({ code: 'invalid', problems: [{ type: 'string_pattern_mismatch' }] });
});

test.each([
  ['Connect', createConnectTransport],
  ['gRPC', createGrpcTransport],
])('a gateway forwards unary and streaming %s calls', async (_name, transport) => {
  const options = { baseUrl: address(front), httpVersion: '2' as const };
  const client = createClient(JobService, transport(options));
  const jobId = await submit(3);
  const seen: Headers[] = [];
  const told = {
    headers: { authorization },
    onHeader: (header: Headers) => void seen.push(header),
  };
  expect(await client.getJob({ jobId }, told)).toMatchObject({ jobId, total: 3 });
  expect([seen[0]!.get('x-credits-remaining'), seen[0]!.get('etag')]).toEqual([
    '970',
    expect.stringMatching(/^W\//),
  ]);
  await fixture.startWorker();
  await fixture.waitForState(jobId, 'completed');
  const pieces: Message[] = [];
  for await (const piece of client.streamResults({ jobId }, told)) pieces.push(piece);
  const text = Buffer.concat(
    pieces.map((piece) => (piece as unknown as { data: Uint8Array }).data),
  ).toString();
  expect(text.trim().split('\n')).toHaveLength(3);
  expect(seen[1]!.get('x-credits-remaining')).toBe('970');
});

test('a gateway returns the errors of the core with their details', async () => {
  const client = createClient(
    JobService,
    createConnectTransport({ baseUrl: address(front), httpVersion: '1.1' }),
  );
  const errorOf = async (asked: Promise<unknown>) =>
    (await asked.catch(ConnectError.from)) as ConnectError;
  const nobody = await errorOf(client.getJob({ jobId: crypto.randomUUID() }));
  expect([nobody.code, nobody.rawMessage]).toEqual([
    Code.Unauthenticated,
    'The API key is missing: send the header Authorization: Bearer <key>.',
  ]);
  expect(nobody.findDetails(FaultSchema)).toMatchObject([{ code: 'unauthenticated' }]);
  const bad = await errorOf(client.getJob({ jobId: 'x' }, { headers: { authorization } }));
  expect(bad.findDetails(FaultSchema)).toMatchObject([
    { code: 'invalid', problems: [{ type: 'string_pattern_mismatch' }] },
  ]);
  const stream = client.streamResults(
    { jobId: crypto.randomUUID() },
    { headers: { authorization } },
  );
  const missing = await errorOf((async () => (await Array.fromAsync(stream)).length)());
  expect(missing.findDetails(FaultSchema)).toMatchObject([{ code: 'not_found' }]);
});

test('a forwarded wait returns when the gateway stops', async () => {
  const jobId = await submit(3);
  const client = createClient(JobService, createGrpcTransport({ baseUrl: address(front) }));
  const waiting = client.getJob({ jobId }, { headers: { authorization, 'gleaner-wait': '60' } });
  await fixture.eventually('the core waits', () => fixture.clock.sleepers() > 0);
  stopping.abort();
  expect((await waiting).ended).toBe(false);
});

test('a reader that stops early ends the stream in the core', async () => {
  const jobId = await submit(3);
  const caller = createCoreClient(
    createRemoteCore(address(core), { services: declared, admissions, stopping: stopping.signal }),
  );
  const session = await caller.authenticate({ authorization });
  const { signal } = new AbortController();
  const context = {
    requestId: 'r',
    idempotencyKey: undefined,
    signal,
    waitMs: 0,
    ifNoneMatch: undefined,
  };
  const method = JobService.method.watchJob;
  const request = create(method.input, { jobId });
  for await (const _seen of session.stream(method, request, { ...context, responseHeaders: {} })) {
    await fixture.eventually('it is watched', () => fixture.clock.sleepers() === 1);
    break;
  }
  await fixture.eventually('nobody watches', () => fixture.clock.sleepers() === 0);
});

describe('a core that is lost during a call', () => {
  let lost: ListeningServer;
  let gateway: ListeningServer;
  let remote: RemoteCore;
  beforeEach(async () => {
    const { log } = fixture.context;
    const routes = routeCore(createCore(fixture.context, declared), log, admissions);
    const listener = createRpcListener(routes, createBodyBudget());
    lost = await listen(
      (request, response) => {
        // Ends the connection during the call.
        if (!/SubmitVariantSold|ListJobs/.test(request.url!)) listener(request, response);
        else if ('stream' in response) response.stream.session!.destroy();
      },
      '127.0.0.1',
      0,
    );
    remote = createRemoteCore(address(lost), {
      services: declared,
      admissions,
      stopping: stopping.signal,
    });
    gateway = await listen(
      createRpcListener(routeCore(remote, log), createBodyBudget()),
      '127.0.0.1',
      0,
    );
  });
  afterEach(async () => {
    await gateway.close();
    await lost.close();
  });

  const post = (name: string, body: object) =>
    fetch(`${address(gateway)}/${name}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  test('leaves a forwarded submit without a response', async () => {
    const name = `${submitVariantSold.parent.typeName}/${submitVariantSold.name}`;
    await expect(post(name, variantSoldRequest(3))).rejects.toThrow('fetch failed');
  });

  test('makes a forwarded read unavailable', async () => {
    expect((await post(`${JobService.typeName}/ListJobs`, {})).status).toBe(503);
  });

  test('leaves a REST submit without an outcome, but not one that was never sent', async () => {
    const session = await createCoreClient(remote).authenticate({ authorization });
    const { signal } = new AbortController();
    const context = {
      requestId: 'r',
      idempotencyKey: undefined,
      signal,
      waitMs: 0,
      ifNoneMatch: undefined,
    };
    const message = create(submitVariantSold.input, variantSoldRequest(3) as never);
    const submitOnce = () =>
      session.call(submitVariantSold, message, { ...context, responseHeaders: {} });
    await expect(submitOnce()).rejects.toMatchObject({ code: 'unavailable', unknownOutcome: true });
    await lost.close();
    await expect(submitOnce()).rejects.toMatchObject({
      code: 'unavailable',
      unknownOutcome: false,
    });
  });
});

test('an unreachable core is unavailable', async () => {
  await core.close();
  const client = createClient(JobService, createGrpcTransport({ baseUrl: address(front) }));
  const asked = client.listJobs({}, { headers: { authorization } });
  await expect(asked).rejects.toMatchObject({ code: Code.Unavailable });
});
