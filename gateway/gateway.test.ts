import { Writable } from 'node:stream';
import pino from 'pino';
import { expect, test } from 'vitest';
import { createRateLimit } from '../src/access/rate-limit.ts';
import { Fault } from '../src/contract/fault.ts';
import { handClock, recordedCaller, startTestGateway } from './fixture/gateway.ts';
import { shopService } from './fixture/shop.ts';

const job = '6f1c0f3e-54b5-4b0e-9f2d-0a4de2a1b2c3';

test('health is alive whatever the core says; ready says what is missing', async () => {
  const { caller, state } = recordedCaller({});
  const gateway = await startTestGateway({ caller });
  for (const path of ['/health', '/v1/health'])
    expect(await (await gateway.ask(path, { key: null })).json()).toEqual({ status: 'ok' });
  const ready = await gateway.ask('/ready', { key: null });
  expect([ready.status, await ready.json()]).toEqual([200, { status: 'ready' }]);
  state.missing = new Fault('unavailable', 'nats://10.0.0.7:4222 does not answer', { component: 'queue' });
  const missing = await gateway.ask('/v1/ready', { key: null });
  expect([missing.status, await missing.json()]).toEqual([
    503,
    { status: 'unavailable', detail: 'The queue is unavailable.' },
  ]);
  expect((await gateway.ask('/health')).status).toBe(200);
  await gateway.close(0);
});

test('answers of a cached method are kept by their status, per caller', async () => {
  let calls = 0;
  let state: { status: string; downloadUrl?: string } = { status: 'processing' };
  const clock = handClock();
  const { caller } = recordedCaller({
    GetProgress: ({ jobId }) => {
      calls += 1;
      return { jobId, ...state };
    },
  });
  const gateway = await startTestGateway({
    caller,
    clock,
    retrieveCache: { processingMs: 120_000, completedMs: 86_400_000 },
  });
  const ask = async (path = `/v1/shop/progress/${job}`, key = 'key-ann') => {
    const response = await gateway.ask(path, { key });
    return [((await response.json()) as { status: string }).status, response.headers.get('cache-control')];
  };
  expect(await ask()).toEqual(['processing', 'private, max-age=120']);
  state = { status: 'completed' };
  clock.move(50_500);
  expect(await ask(`/shop/progress/${job}`)).toEqual(['processing', 'private, max-age=69']);
  expect(calls).toBe(1);
  expect(await ask(undefined, 'key-bob')).toEqual(['completed', 'private, max-age=120']);
  clock.move(69_500);
  // Over, but its file is not there yet: asked for again soon.
  expect(await ask()).toEqual(['completed', 'private, max-age=120']);
  state = { status: 'completed', downloadUrl: 'https://x' };
  clock.move(120_000);
  expect(await ask()).toEqual(['completed', 'private, max-age=86400']);
  clock.move(86_399_000);
  expect(await ask()).toEqual(['completed', 'private, max-age=1']);
  expect(calls).toBe(4);
  await gateway.close(0);
});

test('faults are not cached, and without lengths nothing is', async () => {
  let calls = 0;
  const failing = recordedCaller({
    GetProgress: () => {
      calls += 1;
      throw new Fault('not_found', 'no such job');
    },
  });
  const gateway = await startTestGateway({
    caller: failing.caller,
    retrieveCache: { processingMs: 1000, completedMs: 1000 },
  });
  for (const count of [1, 2]) {
    expect((await gateway.ask(`/shop/progress/${job}`)).status).toBe(404);
    expect(calls).toBe(count);
  }
  await gateway.close(0);
  const { caller, calls: made } = recordedCaller({ GetProgress: () => ({ status: 'completed' }) });
  const plain = await startTestGateway({ caller });
  for (const count of [1, 2]) {
    expect((await plain.ask(`/shop/progress/${job}`)).headers.get('cache-control')).toBe('no-store');
    expect(made).toHaveLength(count);
  }
  await plain.close(0);
});

test('over its rate a key gets 429 and when to come back; another key is not touched', async () => {
  const clock = handClock();
  const rateLimit = createRateLimit({ requestsPerSecond: 2, clock });
  const { caller } = recordedCaller({ GetOrder: () => ({}) }, undefined, rateLimit);
  const gateway = await startTestGateway({ caller, clock });
  const ask = async (key: string) => {
    const response = await gateway.ask('/shop/orders/1', { key });
    return [response.status, response.headers.get('retry-after')];
  };
  expect([await ask('key-ann'), await ask('key-ann'), await ask('key-ann')]).toEqual([
    [200, null],
    [200, null],
    [429, '1'],
  ]);
  expect(await ask('key-bob')).toEqual([200, null]);
  expect(await ask('nobody')).toEqual([401, null]);
  clock.move(500);
  expect([await ask('key-ann'), await ask('key-ann')]).toEqual([
    [200, null],
    [429, '1'],
  ]);
  await gateway.close(0);
});

test('one access-log line per request, with the request id of the answer and no secrets', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino(
    { level: 'info' },
    new Writable({ write: (chunk, _encoding, done) => done(void lines.push(JSON.parse(String(chunk)))) }),
  );
  const { caller } = recordedCaller({ GetOrder: () => ({}) });
  const gateway = await startTestGateway({ caller, log });
  const ids = [];
  for (const path of ['/v1/shop/orders/77?token=secret', '/nothing?token=secret'])
    ids.push((await gateway.ask(path)).headers.get('x-request-id'));
  await expect.poll(() => lines.length).toBe(2);
  expect(lines).toMatchObject([
    {
      level: 30,
      msg: 'request',
      requestId: ids[0],
      method: 'GET',
      route: '/v1/shop/orders/{number}',
      status: 200,
      ms: 0,
      userId: 'ann',
    },
    { level: 30, msg: 'request', requestId: ids[1], method: 'GET', path: '/nothing', status: 404, ms: 0 },
  ]);
  expect(JSON.stringify(lines)).not.toMatch(/secret|key-ann/);
  await gateway.close(0);
});

test('mounts are served before the 404, and what they throw is a fault', async () => {
  const gateway = await startTestGateway({
    mounts: [
      (request, response, next) => {
        if (request.path === '/boom') throw new Error('inside');
        if (request.path === '/mounted') response.end('here');
        else next();
      },
    ],
  });
  expect(await (await gateway.ask('/mounted')).text()).toBe('here');
  expect((await gateway.ask('/boom')).status).toBe(500);
  expect((await gateway.ask('/other')).status).toBe(404);
  await gateway.close(0);
});

test('a path declared twice stops the start', async () => {
  await expect(startTestGateway({ services: [shopService, shopService] })).rejects.toThrow(
    'POST /v1/shop/orders is declared twice',
  );
});

test('closing lets a request under way end', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let started = () => {};
  const arrived = new Promise<void>((resolve) => {
    started = resolve;
  });
  const { caller } = recordedCaller({});
  const authenticate = caller.authenticate;
  caller.authenticate = async (headers) => {
    started();
    await held;
    return authenticate(headers);
  };
  const gateway = await startTestGateway({ caller });
  const answer = gateway.ask('/shop/orders/x');
  await arrived;
  const closed = gateway.close(5000);
  release();
  expect((await answer).status).toBe(422);
  await closed;
  await expect(gateway.ask('/health')).rejects.toThrow();
});
